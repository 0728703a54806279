#!/bin/sh
# What gc-pack says to good and bad input. Usage: gc-pack-input.sh GC-PACK
set -u
pack=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# expect CODE TEXT ARGUMENTS...: the exit code, and TEXT on the first line of standard error
expect() {
  code=$1 text=$2
  shift 2
  "$pack" "$@" > out.json 2> err.txt
  got=$?
  if [ $got -ne "$code" ]; then
    echo "FAILED: gc-pack $*: exit code $got, expected $code" >&2
    cat err.txt >&2
    failed=1
  fi
  if [ -n "$text" ] && ! head -n 1 err.txt | grep -qF -- "$text"; then
    echo "FAILED: gc-pack $*: expected '$text', got:" >&2
    cat err.txt >&2
    failed=1
  fi
}
# prints TEXT: it is in the report of the last call
prints() {
  if ! grep -qF -- "$1" out.json; then
    echo "FAILED: expected $1 in:" >&2
    cat out.json >&2
    failed=1
  fi
}

# a and b live together, c after a: 10 + 20, with c below or above b.
printf 'size,id,upper,note,lower\n10,a,4,x,0\n20,b,9,y,2\n\n10, c ,9,z,4\r\n' > good.csv
expect 0 '' good.csv -o packed.csv
prints '"bytes": 30'
prints '"lower_bound": 30'
prints '"optimal": true'
prints '"seconds": '
[ "$(head -n 1 packed.csv)" = id,lower,upper,size,offset ] || { echo "FAILED: header of -o" >&2; failed=1; }
grep -q '^c,4,9,10,[0-9]*$' packed.csv || { echo "FAILED: row of -o" >&2; cat packed.csv >&2; failed=1; }
expect 0 '' good.csv --capacity=30
expect 0 '' good.csv --capacity=1KiB --seconds=1 --threads=1 --steps=1000
expect 3 'the capacity of 29 bytes cannot be met: proven to need at least 30 bytes; the best packing found has 30 bytes' good.csv --capacity=29
prints '"bytes": 30'

printf 'id,lower,upper,size\n' > none.csv
expect 0 '' none.csv
prints '"bytes": 0'
prints '"optimal": true'

expect 2 "cannot read 'missing.csv': No such file" missing.csv
: > empty.csv
expect 2 "cannot read 'empty.csv'" empty.csv
printf 'id,lower,size\na,0,4\n' > columns.csv
expect 2 "columns.csv:1: column 'upper' is missing" columns.csv
printf 'id,lower,upper,size,size\na,0,4,1,1\n' > twice.csv
expect 2 "twice.csv:1: column 'size' appears twice" twice.csv
printf 'id,lower,upper,size\na,0,4,-8\n' > negative.csv
expect 2 'negative.csv:2: size -8 is negative' negative.csv
printf 'id,lower,upper,size\na,0,4,8\nb,4,4,8\n' > dead.csv
expect 2 'dead.csv:3: lower 4 must be less than upper 4' dead.csv
printf 'id,lower,upper,size\na,0,4,8\nb,0,4,8\na,0,4,8\n' > again.csv
expect 2 "again.csv:4: id 'a' was used in line 2 already" again.csv
printf 'id,lower,upper,size\na,0,4,99999999999999999999\n' > wide.csv
expect 2 "wide.csv:2: size '99999999999999999999' does not fit 64 bits" wide.csv
printf 'id,lower,upper,size\na,0,4,4000000000000000000\nb,0,4,4000000000000000000\n' > sum.csv
expect 2 'add up to more than 2^62 bytes' sum.csv
printf 'id,lower,upper,size\na,0,4,8.5\n' > fraction.csv
expect 2 "fraction.csv:2: size '8.5' is not a whole number" fraction.csv
printf 'id,lower,upper,size\na,0,4\n' > short.csv
expect 2 'short.csv:2: 3 values where the first line names 4 columns' short.csv

expect 2 '--capacity' good.csv --capacity=many
expect 2 '--capacity must be at least 1 byte' good.csv --capacity=0
expect 2 '' good.csv --threads=0
expect 2 '' good.csv --seconds=-1
expect 2 '' good.csv --frobnicate
expect 2 ''
expect 2 "-o no/such/folder.csv: cannot write to directory 'no/such'" good.csv -o no/such/folder.csv
expect 0 '' --help
prints 'Examples'
expect 0 '' --version
exit $failed
