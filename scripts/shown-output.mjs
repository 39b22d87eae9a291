import { once } from 'node:events';

/** Shows the output of a child process on stdout, and waits for its end. @returns the output and the exit status */
export async function shownOutput(child) {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      process.stdout.write(text);
    });
  }
  const [status] = await once(child, 'close');
  return { output, status };
}
