"""What torchvision's RandAugment makes of a small image, op by op: test/runtime/io/RandAugmentCases.inc.

    python rand_augment.py > ../../test/runtime/io/RandAugmentCases.inc

The image is 6 x 7 in colour; byte i of its H x W x C is (37 i² + 11 i + 5) mod 251. Ops are applied to tensors of
bytes. Equalize does nothing to so few pixels: the test has it by hand.
"""

import torch
from torchvision.transforms import InterpolationMode, RandAugment
from torchvision.transforms.autoaugment import _apply_op

HEIGHT, WIDTH, CHANNELS = 6, 7, 3
# Ours, torchvision's.
NAMES = {
    "identity": "Identity", "shear-x": "ShearX", "shear-y": "ShearY", "translate-x": "TranslateX",
    "translate-y": "TranslateY", "rotate": "Rotate", "brightness": "Brightness", "colour": "Color",
    "contrast": "Contrast", "sharpness": "Sharpness", "posterize": "Posterize", "solarize": "Solarize",
    "autocontrast": "AutoContrast"}
MAGNITUDES = (9, 30)  # the default and the most


def main():
    i = torch.arange(HEIGHT * WIDTH * CHANNELS)
    image = ((37 * i * i + 11 * i + 5) % 251).to(torch.uint8).view(HEIGHT, WIDTH, CHANNELS).permute(2, 0, 1)
    space = RandAugment()._augmentation_space(31, (HEIGHT, WIDTH))
    print("// What torchvision's ops of RandAugment make of a small image: written by "
          "tools/compare/rand_augment.py.")
    for name, theirs in NAMES.items():
        strengths, is_signed = space[theirs]
        has_strength = strengths.ndim > 0
        for magnitude in MAGNITUDES if has_strength else MAGNITUDES[:1]:
            strength = float(strengths[magnitude]) if has_strength else 0.0
            for sign in (1, -1) if is_signed else (1,):
                made = _apply_op(image, theirs, sign * strength, InterpolationMode.NEAREST, None)
                text = bytes(made.permute(1, 2, 0).flatten().tolist()).hex()
                print(f'{{"{name}", {magnitude}, {"true" if sign < 0 else "false"},')
                half = len(text) // 3
                print("\n".join(f' "{text[j:j + half]}"' for j in range(0, len(text), half)) + "},")


if __name__ == "__main__":
    main()
