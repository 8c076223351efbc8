#pragma once

#include <string_view>

namespace troupe::node {

/// The colours are Okabe and Ito's, which people with each kind of
/// colour-blindness tell apart; lines also differ in their dashes.
inline constexpr std::string_view page_style = R"css(
:root{--paper:#fff;--ink:#1c2024;--soft:#5c6670;--rule:#dde2e6;--card:#f6f8f9;
--c0:#0072b2;--c1:#d55e00;--c2:#007f5c;--c3:#a94f87;--c4:#8a6500;--c5:#3d4a54;
--good:#00694c;--open:#7d5600;--bad:#b02a00}
@media (prefers-color-scheme:dark){:root{--paper:#15181b;--ink:#e8ebed;--soft:#9ca7b0;
--rule:#30363b;--card:#1d2125;--c0:#56b4e9;--c1:#f08a4b;--c2:#2bc59b;--c3:#e29ac4;
--c4:#e6b800;--c5:#c3ccd3;--good:#3fd0a5;--open:#e6b33d;--bad:#ff8f66}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,"Segoe UI","DejaVu Sans",sans-serif}
main{max-width:1180px;margin:0 auto;padding:32px 24px 48px}
h1{font-size:30px;line-height:1.2;margin:0}
h2{font-size:19px;margin:36px 0 12px}
h3{font-size:15px;margin:0 0 4px}
code,pre{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.86em}
code{overflow-wrap:anywhere}
small{color:var(--soft);font-size:13px}
.what{margin:2px 0 12px;color:var(--soft);font-size:17px}
.status{display:inline-block;margin:0;padding:6px 14px;border-left:4px solid;background:var(--card)}
.status b{margin-right:4px}
.good,.good b{border-color:var(--good)}.good b{color:var(--good)}
.open{border-color:var(--open)}.open b{color:var(--open)}
.bad{border-color:var(--bad)}.bad b{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(132px,1fr));gap:12px;margin-top:24px}
.tile{background:var(--card);border-radius:6px;padding:10px 14px;display:flex;flex-direction:column}
.tile span,.tile small{color:var(--soft);font-size:13px}
.tile b{font-size:22px;line-height:1.3;font-variant-numeric:tabular-nums;white-space:nowrap}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(480px,100%),1fr));gap:20px}
figure{margin:0;padding:14px 16px;border:1px solid var(--rule);border-radius:6px;min-width:0}
.empty{align-self:start}
figcaption,.aside{color:var(--soft);font-size:14px;margin-top:4px}
.none{color:var(--soft)}
.keys{display:flex;flex-wrap:wrap;gap:2px 18px;font-size:13px;color:var(--soft)}
.key{display:inline-flex;align-items:center;gap:6px}
.key svg{width:28px;height:10px;flex:none}
svg{display:block;width:100%;height:auto}
svg text{fill:var(--soft);font-size:12.5px;font-variant-numeric:tabular-nums}
svg .name{font-size:13px}
svg .note{fill:var(--ink);font-size:13px}
.grid{stroke:var(--rule);fill:none}.axis{stroke:var(--soft);fill:none}
.line{fill:none;stroke-width:2;stroke-linejoin:round}
.band{opacity:.18;stroke:none}
.dot{stroke:var(--paper);stroke-width:.6}
path.s0{stroke:var(--c0)}path.s1{stroke:var(--c1);stroke-dasharray:7 3}
path.s2{stroke:var(--c2);stroke-width:1.4}path.s3{stroke:var(--c3);stroke-dasharray:9 3 2 3}
path.s4{stroke:var(--c4);stroke-dasharray:12 4}path.s5{stroke:var(--c5);stroke-dasharray:5 2 1 2 1 2}
.dot.s0,.band.s0{fill:var(--c0)}.dot.s1,.band.s1{fill:var(--c1)}.dot.s2,.band.s2{fill:var(--c2)}
.dot.s3,.band.s3{fill:var(--c3)}.dot.s4,.band.s4{fill:var(--c4)}.dot.s5,.band.s5{fill:var(--c5)}
path.band{stroke:none}
.bar{fill:var(--c0)}.behind{fill:var(--c0);opacity:.28}
g:hover>.bar{fill:var(--c1)}
.heat{fill:var(--c0)}
.mark{stroke:var(--c1);stroke-width:1.5;stroke-dasharray:4 3;fill:none}
.swatch{width:12px;height:12px;background:var(--c0);opacity:.28}.swatch.full{opacity:1}
.tables{display:flex;flex-wrap:wrap;gap:0 48px}
.table{min-width:0;max-width:100%}
table{border-collapse:collapse;font-size:14.5px;font-variant-numeric:tabular-nums}
th,td{padding:4px 18px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
th{font-weight:normal;color:var(--soft)}
tbody th{color:var(--ink)}
details{margin-top:36px}summary{cursor:pointer}
pre{background:var(--card);padding:12px 16px;border-radius:6px;overflow-x:auto}
footer{margin-top:28px;color:var(--soft);font-size:13px}
@media print{:root{--paper:#fff;--ink:#000;--soft:#444;--rule:#ccc;--card:#fff;--c0:#0072b2;
--c1:#d55e00;--c2:#007f5c;--c3:#a94f87;--c4:#8a6500;--c5:#3d4a54;--good:#00694c;--open:#7d5600;
--bad:#b02a00}body{font-size:11pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{max-width:none;padding:0}.figures{grid-template-columns:1fr 1fr;gap:10px}
figure,.table,.tile{break-inside:avoid}h2{break-after:avoid}.tile,.status{border:1px solid var(--rule)}
details{display:none}}
)css";

} // namespace troupe::node
