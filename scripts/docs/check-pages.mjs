// Checks every page of the built site in headless Chromium: no errors, no missing files, nothing wider than a phone,
// and readable contrast in light and dark mode. It also tests the search, the page that compares measurements, and the
// animations of the course.

import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { delimiter, extname, join, normalize } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtPages } from './check-links.mjs';
import { docs, root } from './pages.mjs';

const site = join(docs, 'site');
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
const PHONE = { width: 360, height: 740, isMobile: true, hasTouch: true };
/** Contrast of text that WCAG 2.2 requires (AA). */
const CONTRAST = 4.5;
/** Smallest width in pixels at which the text of a plot, drawn 440 pixels wide, is readable. */
const PLOT_WIDTH = 300;
/** Number of concurrent pages. */
const AT_ONCE = 4;

function findBrowser() {
  if (process.env.CLSORT_BROWSER) return process.env.CLSORT_BROWSER;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
    existsSync(path),
  );
  if (found) return found;
  throw new Error(
    `no browser: expected one of ${NAMES.join(' ')} in PATH, or CLSORT_BROWSER ('apt install chromium')`,
  );
}

/** Serves the site like any web server. */
async function serve() {
  const server = createServer(({ url }, response) => {
    const path = normalize(decodeURIComponent(new URL(url, 'http://site').pathname));
    const file = join(site, path.endsWith('/') ? `${path}index.html` : path);
    if (!file.startsWith(site) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
}

/** Returns the problems of the current page; runs in the browser. */
function inspect({ contrast, plotWidth }) {
  const found = [];
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) {
    const [widest] = [...document.querySelectorAll('main *')]
      .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
      .map((element) => element.outerHTML.slice(0, 120));
    found.push(`is ${wide} pixels too wide: ${widest ?? 'nothing in main'}`);
  }
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a));
  const groundOf = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement)
      layers.push(rgba(getComputedStyle(one).backgroundColor));
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.map((part) =>
      part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = new Set();
  for (const element of document.querySelectorAll(
    'main :is(p, li, td, th, a, code, h1, h2, h3, h4, label, select, textarea, button, summary)',
  )) {
    if (element.textContent.trim() === '' || element.closest('svg, pre')) continue;
    const style = getComputedStyle(element);
    if (
      style.visibility === 'hidden' ||
      style.display === 'none' ||
      element.classList.contains('header-anchor')
    )
      continue;
    const key = [element.tagName, element.className, style.color, element.parentElement?.tagName].join();
    if (seen.has(key)) continue;
    seen.add(key);
    const ground = groundOf(element);
    const [light, dark] = [luminance(over(rgba(style.color), ground)), luminance(ground)].sort(
      (a, b) => b - a,
    );
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < contrast)
      found.push(
        `has ${element.tagName.toLowerCase()} '${element.textContent.trim().slice(0, 40)}' with a contrast of ${ratio.toFixed(2)}`,
      );
  }
  if (!document.querySelector('h1')) found.push('has no h1');
  for (const image of document.images) {
    if (image.complete && image.naturalWidth === 0) found.push(`misses the image ${image.src}`);
    else if (image.closest('.vp-doc') && image.width < plotWidth)
      found.push(`shrinks the image ${image.src.slice(0, 80)} to ${image.width} pixels`);
  }
  const broken = [...document.querySelectorAll('main td code')].filter(
    (code) => /^\w+$/.test(code.textContent) && code.getClientRects().length > 1,
  );
  if (broken.length > 0)
    found.push(`breaks ${broken.length} names in tables, such as ${broken[0].textContent}`);
  return found;
}

async function visit(browser, url, path) {
  const problems = [];
  const page = await browser.newPage();
  try {
    page.on('pageerror', (error) => problems.push(`${path}: throws ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`${path}: ${message.text()}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${path}: ${response.url()} is ${response.status()}`);
    });
    page.on('requestfailed', (request) => problems.push(`${path}: ${request.url()} cannot be loaded`));
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
        problems.push(`${path}: asks ${request.url()}, which is elsewhere`);
    });
    await page.setViewport(PHONE);
    await page.goto(url + path, { waitUntil: 'load', timeout: 120_000 });
    await page.waitForFunction(() => document.querySelector('#app')?.__vue_app__ !== undefined, {
      timeout: 120_000,
    });
    for (const dark of [false, true]) {
      // Colour transitions are disabled, which would otherwise be sampled half-way.
      await page.evaluate((isDark) => {
        document.documentElement.classList.toggle('dark', isDark);
        if (!document.querySelector('#still')) {
          const still = Object.assign(document.createElement('style'), {
            id: 'still',
            textContent: '* { transition: none !important; animation: none !important }',
          });
          document.head.append(still);
        }
      }, dark);
      const found = await page.evaluate(inspect, { contrast: CONTRAST, plotWidth: PLOT_WIDTH });
      problems.push(...found.map((one) => `${path} (${dark ? 'dark' : 'light'}): ${one}`));
    }
  } catch (error) {
    problems.push(`${path}: ${error.message}`);
  } finally {
    await page.close();
  }
  return problems;
}

/** Tests the offline search of the site: a word of a docstring leads to its page. */
async function search(browser, url) {
  const page = await browser.newPage();
  try {
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(`${url}index.html`, { waitUntil: 'load' });
    await page.waitForSelector('.VPNavBarSearch button');
    await page.click('.VPNavBarSearch button');
    await page.waitForSelector('#localsearch-input');
    await page.type('#localsearch-input', 'ERR_CLSORT_MISMATCH');
    const results = await page.waitForSelector('#localsearch-list .result', { timeout: 60_000 });
    const target = await results.evaluate((element) => element.getAttribute('href'));
    return target?.includes('errors') ? [] : [`search for ERR_CLSORT_MISMATCH leads to ${target}`];
  } catch (error) {
    return [`search: ${error.message}`];
  } finally {
    await page.close();
  }
}

/** Tests that the page for measurements accepts the current output of the command. */
async function compare(browser, url) {
  const page = await browser.newPage();
  const problems = [];
  try {
    const bench = (...args) =>
      execFileSync(
        process.execPath,
        [join(root, 'scripts/run.mjs'), join(root, 'dist/src/cli/main.js'), 'bench', ...args, '--json', '-q'],
        {
          encoding: 'utf8',
          maxBuffer: 2 ** 26,
        },
      );
    const outputs = [
      bench('sorts', '--count', '2^16', '--algorithm', 'auto', '--repeats', '1'),
      bench('calls', '--count', '2^16', '--operation', 'sort', '--repeats', '1'),
    ];
    await page.setViewport(PHONE);
    await page.goto(`${url}performance/compare.html`, { waitUntil: 'load' });
    await page.waitForFunction(() => document.querySelector('#app')?.__vue_app__ !== undefined);
    const give = (text) =>
      page.$eval(
        '.own textarea',
        (element, value) => {
          element.value = value;
          element.dispatchEvent(new Event('input'));
        },
        text,
      );
    for (const output of outputs) {
      await give(output);
      await page.waitForSelector('.own-table tbody tr');
      const text = await page.$eval('.own-table', (element) => element.textContent);
      if (!/NVIDIA H200/.test(text))
        problems.push(`own measurements are not put beside those of the H200: ${text.slice(0, 300)}`);
      if (!/yours/.test(text)) problems.push('own measurements have no ratios');
      if (!(await page.$('.plot svg'))) problems.push('own measurements have no plot');
      problems.push(...(await page.evaluate(inspect, { contrast: CONTRAST, plotWidth: PLOT_WIDTH })));
    }
    await give('{ "schema": "other" }');
    await page.waitForSelector('[role=alert]');
    if (await page.$('.own-table')) problems.push('what cannot be read leaves the table of before');
  } catch (error) {
    problems.push(error.message);
  } finally {
    await page.close();
  }
  return problems.map((problem) => `performance/compare.html: ${problem}`);
}

/**
 * Tests the course: its animation step by step, playing and with its controls, and its recordings as interactive pages.
 */
async function course(browser, url) {
  const page = await browser.newPage();
  const problems = [];
  const expect = (holds, problem) => {
    if (!holds) problems.push(problem);
  };
  try {
    await page.setViewport(PHONE);
    await page.goto(`${url}course/look-back.html`, { waitUntil: 'load' });
    await page.waitForFunction(() => document.querySelector('#app')?.__vue_app__ !== undefined);
    const tick = () => page.$eval('.look-back-tick', (element) => element.textContent);
    const click = (selector) => page.$eval(`.look-back ${selector}`, (element) => element.click());
    await click('[aria-label="step forth"]');
    expect(/^Tick 1 of/.test(await tick()), `a step forth leads to '${await tick()}'`);
    await click('.look-back-play');
    await page.waitForFunction(
      () => /^Tick [2-9]/.test(document.querySelector('.look-back-tick').textContent),
      {
        timeout: 120_000,
      },
    );
    await click('[aria-label="step back"]');
    expect(
      (await page.$eval('.look-back-play', (one) => one.textContent)).includes('play'),
      'a step does not pause',
    );
    await page.select('.look-back [name=special]', 'mute');
    await page.$eval('.look-back [type=range]', (slider) => {
      slider.value = slider.max;
      slider.dispatchEvent(new Event('input'));
    });
    const done = await page.$$eval(
      '.look-back tbody tr',
      (rows) => rows.filter((row) => /done/.test(row.textContent)).length,
    );
    expect(done === 12, `in the end ${done} of 12 tiles are done`);
    await page.goto(`${url}course/scan.html`, { waitUntil: 'load' });
    const handle = await page.waitForSelector('.recording iframe');
    await handle.evaluate((frame) => frame.scrollIntoView());
    const frame = await handle.contentFrame();
    await frame.waitForSelector('#lines td');
    const position = () => frame.$eval('#position', (one) => one.textContent);
    expect((await position()).startsWith('step 2 of'), 'a recording does not open on its first addition');
    await frame.$eval('#forth', (button) => button.click());
    expect((await position()).startsWith('step 3 of'), 'a recording does not walk');
    const hidden = await handle.evaluate(
      (one) => one.contentDocument.body.getBoundingClientRect().height - one.clientHeight,
    );
    expect(hidden < 20, `${hidden} pixels of a recording are cut off`);
    const wide = await frame.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(wide <= 0, `a recording is ${wide} pixels too wide`);
  } catch (error) {
    problems.push(error.message);
  } finally {
    await page.close();
  }
  return problems.map((problem) => `course: ${problem}`);
}

/** Tests that the recording of the landing page plays when it comes into view, unless the reader prefers reduced motion. */
async function landing(browser, url) {
  const problems = [];
  for (const motion of ['no-preference', 'reduce']) {
    const page = await browser.newPage();
    try {
      await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: motion }]);
      await page.setViewport(PHONE);
      await page.goto(`${url}index.html`, { waitUntil: 'load' });
      const handle = await page.waitForSelector('.recording iframe');
      await handle.evaluate((element) => element.scrollIntoView({ block: 'center' }));
      const frame = await handle.contentFrame();
      await frame.waitForSelector('#lines td');
      if (motion === 'no-preference') {
        await frame.waitForFunction(() => document.getElementById('play').textContent === 'pause');
      } else {
        await sleep(1000);
        if ((await frame.$eval('#play', (button) => button.textContent)) === 'pause')
          problems.push('the recording plays although the reader prefers reduced motion');
      }
    } catch (error) {
      problems.push(`with motion '${motion}': ${error.message}`);
    } finally {
      await page.close();
    }
  }
  return problems.map((problem) => `index.html: ${problem}`);
}

export async function check() {
  const puppeteer = createRequire(join(docs, 'package.json'))('puppeteer-core');
  const { server, url } = await serve();
  const flags = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  const browser = await puppeteer.launch({ executablePath: findBrowser(), headless: true, args: flags });
  try {
    const pages = builtPages().filter((path) => path !== '404.html');
    const waiting = [...pages];
    const problems = [];
    const take = async () => {
      for (let path = waiting.shift(); path; path = waiting.shift())
        problems.push(...(await visit(browser, url, path)));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, take));
    problems.push(
      ...(await search(browser, url)),
      ...(await compare(browser, url)),
      ...(await course(browser, url)),
      ...(await landing(browser, url)),
    );
    return { summary: `${pages.length} pages, light and dark, ${PHONE.width} pixels wide`, problems };
  } finally {
    await browser.close();
    server.close();
  }
}
