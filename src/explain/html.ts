import { escapeMarkup, jsonInHtml } from '../util/markup.js';
import type { Explanation } from './explanation.js';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';
import { resultName } from './text.js';

/** Maximum number of keys in a paragraph. */
const MAX_LISTED = 64;

function listText(values: readonly string[], n: number): string {
  const visible = values.slice(0, MAX_LISTED);
  return `${visible.join(' ')}${n > visible.length ? ' …' : ''}`;
}

/** Formats the explanation as one self-contained page. */
export function explanationHtml(explanation: Explanation): string {
  const { algorithm, step, dtype, device, keys, result, n, steps } = explanation;
  const form = step === null ? algorithm : `${algorithm}, ${step.replaceAll('_', ' ')}`;
  const heading = escapeMarkup(`${form}: ${n} ${dtype} keys on ${device}`);
  const name = resultName(explanation);
  const out = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>clsort explain ${escapeMarkup(algorithm)}</title>
<style>${PAGE_STYLE}</style>
<h1>${heading}</h1>
<p class="soft">Input: ${escapeMarkup(listText(keys, n))}</p>
<p class="soft">${out}: ${escapeMarkup(listText(result, explanation.sorted ? n : result.length))}</p>
<nav aria-label="Steps"><button id="back" aria-label="step back">←</button> <button id="play">▶ play</button> <button id="forth" aria-label="step forth">→</button>
<input id="slider" type="range" min="0" max="${Math.max(0, steps.length - 1)}" value="0" aria-label="step">
<span id="position" aria-live="polite"></span></nav>
<main><section><h2 id="title"></h2>
<p id="note"></p>
<p class="soft">Kernels: <span id="kernels"></span></p>
<div id="drawing" class="scroll" tabindex="0" role="region" aria-label="What goes where"><div id="flow" class="flow"></div></div>
<dl id="cost"></dl>
<div id="network"><h3>The network</h3><div class="scroll" tabindex="0" role="region" aria-label="Comparators"><svg id="wires" role="img" aria-label="Wires and comparators; those of this step stand out"></svg></div></div>
<h3>Arrays</h3>
<div class="scroll" tabindex="0" role="region" aria-label="Arrays"><table id="lines"></table></div>
<div id="grids"></div></section>
<section><h3 id="source-title"></h3>
<div class="scroll source" tabindex="0" role="region" aria-labelledby="source-title"><pre id="source"></pre></div></section></main>
<p class="soft">Every number was read back from the device and agrees with a model. Turns at banks, idle work-items and sectors are
computed from who reads and writes where; times are the device's own. Arrow keys, Home and End walk, too.</p>
<script type="application/json" id="data">${jsonInHtml(explanation)}</script>
<script>${PAGE_SCRIPT}</script>
</html>
`;
}
