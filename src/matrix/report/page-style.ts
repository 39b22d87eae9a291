/** Style of the page. A narrow page shows row names above their cells. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  font: 16px/1.5 system-ui, sans-serif;
  --back: #ffffff; --text: #1b1f24; --soft: #5a6472; --line: #d5dae1; --panel: #f5f7f9; --link: #0b57d0;
  --ok: #d9f2e3; --ok-text: #0a5c36; --skipped: #eceff3; --skipped-text: #5a6472;
  --wrong: #c0341d; --error: #a04a00; --crash: #7a1fa2; --timeout: #6b5900; --bad-text: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14181d; --text: #e6e9ee; --soft: #a0aab8; --line: #333b46; --panel: #1c222a; --link: #8ab4f8;
    --ok: #173a2a; --ok-text: #8fe0b5; --skipped: #262d36; --skipped-text: #a0aab8;
    --wrong: #e2543b; --error: #d97a2b; --crash: #b872dd; --timeout: #c7ab2d; --bad-text: #14181d;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem 1.25rem 4rem; background: var(--back); color: var(--text); }
h1 { font-size: 1.6rem; margin: .5rem 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .1rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { margin: .25rem 0; }
.soft { color: var(--soft); font-size: .9rem; }
button, select, input { font: inherit; color: inherit; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 1px; }
.filters { position: sticky; top: 0; z-index: 2; display: grid; gap: .6rem; padding: .75rem; margin: 1rem 0; border: 1px solid var(--line);
  border-radius: 8px; background: var(--panel); grid-template-columns: repeat(4, minmax(0, 1fr)) auto; align-items: end; }
.filters label { display: block; font-size: .8rem; color: var(--soft); }
.filters select { width: 100%; padding: .35rem; border: 1px solid var(--line); border-radius: 6px; background: var(--back); color: var(--text); font-size: .9rem; }
.plain { padding: .35rem .75rem; border: 1px solid var(--line); border-radius: 6px; background: var(--back); cursor: pointer; }
.statuses { grid-column: 1 / -1; border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; }
.statuses legend { float: left; font-size: .8rem; color: var(--soft); margin-right: .25rem; }
.statuses label { display: inline-flex; align-items: center; gap: .35rem; font-size: .9rem; color: var(--text); cursor: pointer; }
.mark { display: inline-flex; align-items: center; justify-content: center; min-width: 1.5rem; height: 1.5rem; padding: 0 .3rem; border-radius: 4px;
  font-size: .85rem; font-weight: 600; border: 0; }
.ok { background: var(--ok); color: var(--ok-text); }
.skipped { background: var(--skipped); color: var(--skipped-text); }
.wrong { background: var(--wrong); color: var(--bad-text); }
.error { background: var(--error); color: var(--bad-text); }
.crash { background: var(--crash); color: var(--bad-text); }
.timeout { background: var(--timeout); color: var(--bad-text); }
.grid { margin-top: .5rem; }
.row { display: grid; grid-template-columns: minmax(9rem, 17rem) repeat(var(--columns), minmax(0, 1fr)); gap: 3px; align-items: center; padding: 1px 0; }
.row:hover { background: var(--panel); }
.row > [role='rowheader'] { font-size: .9rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.row > [role='columnheader'] { font-size: .8rem; color: var(--soft); text-align: center; }
.row .cell { width: 100%; height: 1.75rem; cursor: pointer; padding: 0; }
.algorithm { color: var(--soft); }
.failures { padding: 0; margin: .5rem 0; list-style: none; display: grid; gap: .35rem; }
.failures button { width: 100%; text-align: left; display: flex; gap: .6rem; align-items: baseline; padding: .4rem .6rem; border: 1px solid var(--line);
  border-radius: 6px; background: var(--panel); cursor: pointer; }
.failures .mark { min-width: 4.5rem; }
.failures span:last-child { overflow-wrap: anywhere; }
dialog { width: min(52rem, calc(100vw - 1.5rem)); max-height: calc(100dvh - 2rem); padding: 1rem 1.25rem 1.5rem; border: 1px solid var(--line); border-radius: 10px;
  background: var(--back); color: var(--text); overflow: auto; }
dialog::backdrop { background: #0008; }
.head { display: flex; gap: .75rem; align-items: center; justify-content: space-between; }
.head h2 { margin: 0; }
dl { display: grid; grid-template-columns: minmax(5.5rem, auto) minmax(0, 1fr); gap: .3rem 1rem; margin: .75rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.command { display: flex; gap: .5rem; align-items: flex-start; margin: .35rem 0; }
.command code { flex: 1; min-width: 0; padding: .5rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); font-size: .8rem;
  overflow-wrap: anywhere; user-select: all; }
.case { border-top: 1px solid var(--line); padding-top: .5rem; margin-top: .75rem; }
@media (max-width: 46rem) {
  body { padding: .75rem .75rem 3rem; }
  h1 { font-size: 1.35rem; }
  .filters { position: static; grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .row { grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); gap: 2px; padding: 2px 0; }
  .row > [role='rowheader'] { grid-column: 1 / -1; margin-top: .35rem; }
  .titles { position: sticky; top: 0; z-index: 1; background: var(--back); padding: .3rem 0; border-bottom: 1px solid var(--line); }
  .titles > [role='rowheader'] { display: none; }
  .row .cell { height: 2rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .4rem; }
  .command { flex-direction: column; }
  .command code { width: 100%; }
}
@media print { .filters, dialog { display: none; } }
`;
