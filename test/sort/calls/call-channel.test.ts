import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import test from 'ava';
import type { CallMessage } from '../../../src/index.js';
import { forEachSorter } from '../../each-sorter.js';

const keys = Uint32Array.of(5, 1, 4, 1, 3, 9, 2, 6);

/** Returns the messages of the calls that `use` makes. */
async function messagesOf(use: () => Promise<unknown>): Promise<CallMessage[]> {
  const messages: CallMessage[] = [];
  const listen = (message: unknown): void => {
    messages.push(message as CallMessage);
  };
  subscribe('clsort:call', listen);
  try {
    await use();
  } finally {
    unsubscribe('clsort:call', listen);
  }
  return messages;
}

forEachSorter((title, open) => {
  test.serial(title('each call publishes its report to subscribers'), async (t) => {
    const sorter = await open();
    const messages = await messagesOf(async () => {
      await sorter.sort(keys);
      await sorter.topK(keys, 2);
      await sorter.reduce(keys, 'sum');
      await sorter.sort(new Uint32Array(0));
    });
    t.deepEqual(
      messages.map(({ operation, n, reports }) => [operation, n, reports.map((report) => report.n)]),
      [
        ['sort', 8, [8]],
        ['topK', 8, [8]],
        ['reduce', 8, []],
        ['sort', 0, [0]],
      ],
    );
    for (const { device, seconds, error, reports } of messages) {
      t.is(device?.name, sorter.device?.name ?? 'host');
      t.true(seconds > 0);
      t.is(error, undefined);
      for (const report of reports) t.is(report.dtype, 'u32');
    }
  });

  test.serial(
    title('the report is that of onReport, and only that makes a device record stages'),
    async (t) => {
      const sorter = await open();
      let reported: unknown;
      const [message] = await messagesOf(async () => {
        await sorter.argsort(keys, {
          onReport: (report) => {
            reported = report;
          },
        });
      });
      t.is(message?.reports[0], reported as never);
      const [unasked] = await messagesOf(() => sorter.argsort(keys));
      const stages = unasked?.reports[0]?.stages.map(({ stage }) => stage);
      t.deepEqual(stages, sorter.device ? [] : ['host sort']);
    },
  );

  test.serial(title('a call that fails publishes its error and rejects with it'), async (t) => {
    const sorter = await open();
    let thrown: unknown;
    const messages = await messagesOf(async () => {
      thrown = await t.throwsAsync(sorter.topK(keys, -1));
    });
    t.is(messages.length, 1);
    t.is(messages[0]?.operation, 'topK');
    t.is(messages[0]?.error, thrown);
  });

  test.serial(title('each call of a chain publishes its own report'), async (t) => {
    const sorter = await open();
    const array = await sorter.upload(keys);
    const messages = await messagesOf(async () => {
      const order = sorter.argsort(array);
      const sorted = await sorter.gather(array, order);
      t.deepEqual(await sorted.read(), keys.toSorted());
      sorted.dispose();
      (await order).dispose();
    });
    const reports = messages.map((message) => [message.operation, message.reports.length]);
    t.deepEqual(reports.sort(), [
      ['argsort', 1],
      ['gather', 0],
    ]);
    array.dispose();
  });
});
