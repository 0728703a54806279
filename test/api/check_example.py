"""check_example.py SOURCE PAGE: the page shows the source, but for its first comment, as it is compiled."""
import sys

with open(sys.argv[1], encoding="utf-8") as source, open(sys.argv[2], encoding="utf-8") as page:
    code = source.read().split("\n", 1)[1].strip()
    if f"```cpp\n{code}\n```" not in page.read():
        sys.exit(f"{sys.argv[2]} does not show {sys.argv[1]} as it is: copy it there")
