"""How the exported page looks, and what it may do: nothing but show itself."""

import base64
import hashlib

STYLE = """
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--text:#24272b;--dim:#6b7280;--line:#e4e5e7;--code:#f4f4f2;
--user:#2563eb;--assistant:#7c3aed;--tool:#0d9488;--summary:#b45309;--bad:#c02626;--label:#fde68a;--on-label:#713f12}
@media(prefers-color-scheme:dark){:root{--bg:#16181b;--card:#1e2125;--text:#dfe2e6;--dim:#949ba5;--line:#32363c;
--code:#17191c;--user:#7aa7ff;--assistant:#b79bff;--tool:#4fd1c5;--summary:#f0b45b;--bad:#ff8a8a;--label:#5b4708;
--on-label:#fde68a}}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
body{margin:0;background:var(--bg);color:var(--text);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;
overflow-wrap:anywhere}
a{color:inherit}
.page{display:grid;grid-template-columns:19rem minmax(0,50rem);gap:0 2.5rem;justify-content:center;
padding:0 1.5rem 4rem}
header,footer{grid-column:1/-1}
header{padding:2rem 0 1rem;border-bottom:1px solid var(--line);margin-bottom:1.5rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .8rem}
h2{font-size:1.05rem;margin:2.5rem 0 .8rem;color:var(--dim)}
main>h2:first-child{margin-top:0}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;margin:0;font-size:.875rem}
dt{color:var(--dim)}dd{margin:0}
nav{font-size:.85rem;position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow:auto}
nav ol{list-style:none;margin:.5rem 0 0;padding:0;border-left:2px solid var(--line)}
nav a{display:block;padding:.2rem .6rem;margin-left:-2px;border-left:2px solid transparent;text-decoration:none;
color:var(--dim)}
nav a:hover,nav a:focus{background:var(--code);color:var(--text)}
nav .on a{color:var(--text);border-left-color:var(--user)}
nav .here a{font-weight:600}
nav .kind{color:var(--dim);font-size:.75rem;margin-right:.35rem}
.d1{margin-left:.9rem}.d2{margin-left:1.8rem}.d3{margin-left:2.7rem}.d4{margin-left:3.6rem}.d5{margin-left:4.5rem}
.d6{margin-left:5.4rem}
article{background:var(--card);border:1px solid var(--line);border-left:3px solid var(--line);border-radius:8px;
padding:.75rem 1rem;margin:0 0 .8rem;scroll-margin-top:1rem}
article:target,details:target{outline:2px solid var(--user);outline-offset:2px}
article>h3{display:flex;flex-wrap:wrap;gap:.1rem .7rem;align-items:baseline;margin:0;font-size:.9rem}
article>h3 small{font-weight:400;font-size:.78rem;color:var(--dim)}
article>h3 a{margin-left:auto;font-weight:400;font-size:.78rem;color:var(--dim);text-decoration:none}
.user{border-left-color:var(--user)}.user>h3{color:var(--user)}
.assistant{border-left-color:var(--assistant)}.assistant>h3{color:var(--assistant)}
.tool,.bash{border-left-color:var(--tool)}.tool>h3,.bash>h3{color:var(--tool)}
.summary{border-left-color:var(--summary)}.summary>h3{color:var(--summary)}
.note,.system,.custom{border-left-color:var(--line)}
.note{background:none;border:0;padding:.1rem 1rem;margin-bottom:.5rem}
.note>h3{font-size:.8rem;font-weight:400;color:var(--dim)}
.prose{white-space:pre-wrap;margin:.45rem 0 0}
.prose code,pre{font:.85rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.prose code{background:var(--code);border-radius:4px;padding:.05rem .25rem}
pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;margin:.5rem 0 0;
white-space:pre-wrap;max-height:32rem;overflow:auto}
.mark{color:var(--dim)}
details{margin:.5rem 0 0;border:1px solid var(--line);border-radius:6px;padding:.35rem .7rem;scroll-margin-top:1rem}
details[open]{padding-bottom:.7rem}
summary{cursor:pointer;font-size:.87rem}
summary b{font-weight:600;margin-right:.5rem}
summary small,.remark{color:var(--dim);font-size:.82rem}
.remark{margin:.45rem 0 0}
.dim{color:var(--dim)}
p.bad,.bad>summary b{color:var(--bad)}
.label{background:var(--label);color:var(--on-label);border-radius:99px;padding:.05rem .55rem;font-size:.75rem;
font-weight:500}
img{display:block;max-width:100%;max-height:32rem;margin:.5rem 0 0;border-radius:6px;border:1px solid var(--line)}
footer{color:var(--dim);font-size:.8rem;padding-top:1.5rem}
@media(max-width:56rem){.page{grid-template-columns:minmax(0,1fr);padding:0 .8rem 3rem}header{padding-top:1.2rem}
nav{position:static;max-height:45vh;margin-bottom:1.5rem}article{padding:.65rem .75rem}}
@media print{nav{display:none}.page{display:block}pre{max-height:none}article{break-inside:avoid-page}}
"""

_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

CONTENT_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'"
)
"""No script, no load, no style but ours: what slipped through the escaping could still do nothing."""
