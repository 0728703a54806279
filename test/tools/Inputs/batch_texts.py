"""batch_texts.py FROM TO NETWORK...: `gc-gen NETWORK --batch=FROM | gc-opt --gc-batch=size=TO` prints what gc-gen makes with --batch=TO."""
import shlex
import subprocess
import sys


def printed(command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def generated(network, batch):
    return printed(["gc-gen", *shlex.split(network), f"--batch={batch}"])


begin, end, networks = sys.argv[1], sys.argv[2], sys.argv[3:]
differ = [network for network in networks
          if printed(["gc-opt", f"--gc-batch=size={end}"], generated(network, begin)) !=
          printed(["gc-opt"], generated(network, end))]
if differ or not networks:
    sys.exit(f"from {begin} to {end} samples these are not what gc-gen makes: {differ}")
