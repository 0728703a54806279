#!/bin/sh
# gc-pack fits each public instance into 1,048,576 bytes within 10 seconds on two threads.
# Usage: gc-pack-public-instances.sh GC-PACK BENCH-FOLDER (the environment's GC_BENCH comes first)
set -u
pack=$1
bench=${GC_BENCH:-$2}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

set -- "$bench"/packing/*.csv
if [ ! -e "$1" ]; then
  echo "SKIPPED: no instances in $bench/packing; set GC_BENCH to the folder that holds packing/*.csv" >&2
  exit 77
fi

failed=0
for file in "$@"; do
  name=$(basename "$file" .csv)
  if ! "$pack" "$file" --capacity=1048576 --seconds=10 --threads=2 -o "$work/out.csv" > "$work/out.json"; then
    echo "FAILED: $name" >&2
    failed=1
    continue
  fi
  # All pairs, from the file that was written: nothing of ours checks itself here.
  if ! awk -F, -v name="$name" '
      NR > 1 { n++; lower[n] = $2; upper[n] = $3; begin[n] = $5; end[n] = $5 + $4
               if (end[n] > peak) peak = end[n] }
      END {
        for (i = 1; i <= n; i++) for (j = 1; j < i; j++)
          if (lower[i] < upper[j] && lower[j] < upper[i] && begin[i] < end[j] && begin[j] < end[i]) {
            print "FAILED: " name ": rows " i " and " j " overlap" > "/dev/stderr"; exit 1 }
        if (n == 0 || peak > 1048576) { print "FAILED: " name ": peak " peak > "/dev/stderr"; exit 1 }
      }' "$work/out.csv"; then
    failed=1
    continue
  fi
  echo "$name: $(tr -d '\n' < "$work/out.json")"
done
exit $failed
