// Ranges, boxes and regions that lie outside their memory, wrap around, are empty or overlap.
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';

const WRAP = 2n ** 64n;
/** Offsets are multiples of 4096, which Clover requires. */
const BYTES = 16384;
const RGBA = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };

for (const { name, context, queue, version, images } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;
  const host = (n: number) => new Uint8Array(n);
  const contents = () => new Uint8Array(BYTES).map((_, i) => i);

  /** A buffer of known contents; the check reports whether they are unchanged. */
  const untouched = (t: { deepEqual(a: unknown, b: unknown): void }, buffer: cl.MemObject) => {
    const now = host(BYTES);
    cl.enqueueReadBuffer(queue, buffer, true, 0, BYTES, now);
    t.deepEqual(now, contents());
  };

  const part = (whole: cl.MemObject, origin: number, size: number) =>
    cl.createSubBuffer(whole, 0, cl.BUFFER_CREATE_TYPE_REGION, { origin, size });

  const rejected: [string, cl.OpenCLError, number, (a: cl.MemObject, b: cl.MemObject) => unknown][] = [];
  const reject = (
    claim: string,
    error: cl.OpenCLError,
    call: (a: cl.MemObject, b: cl.MemObject) => unknown,
    since = 110,
  ) => rejected.push([claim, error, since, call]);

  const ranges: [string, cl.Size, cl.Size][] = [
    ['wraps around', WRAP - 16n, 32],
    ['wraps around to zero', WRAP - 32n, 32],
    ['begins at the end', BYTES, 1],
    ['ends beyond the buffer', BYTES - 8, 32],
    ['is empty', 0, 0],
  ];
  for (const [what, at, size] of ranges) {
    const bad = cl.INVALID_VALUE;
    reject(`a read that ${what}`, bad, (a) => cl.enqueueReadBuffer(queue, a, true, at, size, host(64)));
    reject(`a write that ${what}`, bad, (a) => cl.enqueueWriteBuffer(queue, a, true, at, size, host(64)));
    reject(`a copy from a range that ${what}`, bad, (a, b) => cl.enqueueCopyBuffer(queue, a, b, at, 0, size));
    reject(`a copy to a range that ${what}`, bad, (a, b) => cl.enqueueCopyBuffer(queue, a, b, 0, at, size));
    reject(`a fill that ${what}`, bad, (a) => cl.enqueueFillBuffer(queue, a, 1, at, size), 120);
    reject(`a mapping that ${what}`, bad, (a) => cl.enqueueMapBuffer(queue, a, true, cl.MAP_READ, at, size));
    reject(`a sub-buffer that ${what}`, size === 0 ? cl.INVALID_BUFFER_SIZE : bad, (a) =>
      cl.createSubBuffer(a, 0, cl.BUFFER_CREATE_TYPE_REGION, { origin: at, size }),
    );
  }

  // origin, region, row pitch, slice pitch
  const boxes: [string, cl.Triple, cl.Triple, cl.Size, cl.Size][] = [
    ['is empty', [0, 0, 0], [0, 1, 1], 0, 0],
    ['wraps within a row', [WRAP - 8n, 0, 0], [16, 1, 1], 0, 0],
    ['wraps in its rows', [0, WRAP - 1n, 0], [16, 2, 1], 16, 0],
    ['wraps by its row pitch', [0, 1, 0], [16, 1, 1], WRAP - 16n, 0],
    ['wraps by its slice pitch', [0, 0, 2], [16, 1, 1], 16, WRAP / 2n],
    ['wraps by its region', [0, 0, 0], [16, WRAP / 16n, 1], 0, 0],
    ['wraps behind its only slice', [0, 2, 0], [8, 2, 1], 8, WRAP - 8n],
    ['ends beyond the buffer', [0, 0, 1], [16, 1, 1], 16, BYTES],
    ['has rows longer than their pitch', [0, 0, 0], [16, 2, 1], 8, 0],
    ['has slices longer than their pitch', [0, 0, 0], [16, 2, 2], 16, 16],
    ['has slices of part of a row', [0, 0, 0], [16, 1, 2], 16, 24],
  ];
  const at0: cl.Triple = [0, 0, 0];
  for (const [what, origin, region, row, slice] of boxes) {
    const bad = cl.INVALID_VALUE;
    reject(`a read of a box that ${what}`, bad, (a) =>
      cl.enqueueReadBufferRect(queue, a, true, origin, at0, region, row, slice, 0, 0, host(64)),
    );
    reject(`a read to a box that ${what}`, bad, (a) =>
      cl.enqueueReadBufferRect(queue, a, true, at0, origin, region, 0, 0, row, slice, host(64)),
    );
    reject(`a write of a box that ${what}`, bad, (a) =>
      cl.enqueueWriteBufferRect(queue, a, true, origin, at0, region, row, slice, 0, 0, host(64)),
    );
    reject(`a copy from a box that ${what}`, bad, (a, b) =>
      cl.enqueueCopyBufferRect(queue, a, b, origin, at0, region, row, slice, 0, 0),
    );
    reject(`a copy to a box that ${what}`, bad, (a, b) =>
      cl.enqueueCopyBufferRect(queue, a, b, at0, origin, region, 0, 0, row, slice),
    );
  }

  const overlap = cl.MEM_COPY_OVERLAP;
  reject('a copy onto itself', overlap, (a) => cl.enqueueCopyBuffer(queue, a, a, 0, 8, 32));
  reject('a copy between sub-buffers that overlap', overlap, (a) =>
    cl.enqueueCopyBuffer(queue, part(a, 0, 8192), part(a, 4096, 8192), 4096, 0, 32),
  );
  reject('a copy from a sub-buffer onto its own bytes in the parent', overlap, (a) =>
    cl.enqueueCopyBuffer(queue, part(a, 4096, 4096), a, 0, 4112, 32),
  );
  reject('a copy of a box onto itself', overlap, (a) =>
    cl.enqueueCopyBufferRect(queue, a, a, at0, [8, 0, 0], [16, 2, 1], 64, 0, 64, 0),
  );
  reject('a copy of a box onto the row below', overlap, (a) =>
    cl.enqueueCopyBufferRect(queue, a, a, [40, 0, 0], [0, 1, 0], [32, 2, 1], 64, 0, 64, 0),
  );
  reject('a copy of a box onto itself through a sub-buffer', overlap, (a) =>
    cl.enqueueCopyBufferRect(queue, a, part(a, 4096, 4096), [0, 64, 0], [8, 0, 0], [16, 2, 1], 64, 0, 64, 0),
  );

  if (images) {
    const shape = { type: cl.MEM_OBJECT_IMAGE2D, width: 4, height: 4 };
    const image = () =>
      version < 120
        ? cl.createImage2D(context, cl.MEM_READ_WRITE, RGBA, 4, 4)
        : cl.createImage(context, cl.MEM_READ_WRITE, RGBA, shape);
    const regions: [string, cl.Triple, cl.Triple][] = [
      ['is empty', at0, [0, 1, 1]],
      ['has no rows', at0, [4, 0, 1]],
      ['is too wide', [2, 0, 0], [4, 1, 1]],
      ['is too high', [0, 3, 0], [4, 2, 1]],
      ['is a slice too deep', [0, 0, 1], [4, 1, 1]],
      ['has two slices', at0, [4, 4, 2]],
      ['wraps in its pixels', [WRAP - 1n, 0, 0], [2, 1, 1]],
      ['wraps in its rows', [0, WRAP - 1n, 0], [1, 2, 1]],
    ];
    for (const [what, origin, region] of regions) {
      const bad = cl.INVALID_VALUE;
      const memory = host(256);
      reject(`a read of an image region that ${what}`, bad, () =>
        cl.enqueueReadImage(queue, image(), true, origin, region, 0, 0, memory),
      );
      reject(`a write of an image region that ${what}`, bad, () =>
        cl.enqueueWriteImage(queue, image(), true, origin, region, 0, 0, memory),
      );
      reject(
        `a fill of an image region that ${what}`,
        bad,
        () => cl.enqueueFillImage(queue, image(), [1, 2, 3, 4], origin, region),
        120,
      );
      reject(`a copy from an image region that ${what}`, bad, () =>
        cl.enqueueCopyImage(queue, image(), image(), origin, at0, region),
      );
      reject(`a copy to an image region that ${what}`, bad, () =>
        cl.enqueueCopyImage(queue, image(), image(), at0, origin, region),
      );
      reject(`a copy to a buffer from an image region that ${what}`, bad, (a) =>
        cl.enqueueCopyImageToBuffer(queue, image(), a, origin, region, 0),
      );
      reject(`a copy from a buffer to an image region that ${what}`, bad, (a) =>
        cl.enqueueCopyBufferToImage(queue, a, image(), 0, origin, region),
      );
      reject(`a mapping of an image region that ${what}`, bad, () =>
        cl.enqueueMapImage(queue, image(), true, cl.MAP_READ, origin, region),
      );
    }
    for (const at of [BYTES - 32, WRAP - 32n]) {
      reject(`a copy of an image to byte ${at} of a buffer`, cl.INVALID_VALUE, (a) =>
        cl.enqueueCopyImageToBuffer(queue, image(), a, at0, [4, 4, 1], at),
      );
      reject(`a copy to an image from byte ${at} of a buffer`, cl.INVALID_VALUE, (a) =>
        cl.enqueueCopyBufferToImage(queue, a, image(), at, at0, [4, 4, 1]),
      );
    }
    reject('rows of host memory shorter than those of the region', cl.INVALID_VALUE, () =>
      cl.enqueueReadImage(queue, image(), true, at0, [4, 4, 1], 4, 0, host(256)),
    );
    reject('a copy of an image onto itself', overlap, () => {
      const one = image();
      cl.enqueueCopyImage(queue, one, one, at0, [1, 0, 0], [2, 1, 1]);
    });

    // One kind of memory for another: some drivers end the process.
    const kind = cl.INVALID_MEM_OBJECT;
    reject('a read of an image as bytes', kind, () =>
      cl.enqueueReadBuffer(queue, image(), true, 0, 16, host(16)),
    );
    reject('a fill of an image as bytes', kind, () => cl.enqueueFillBuffer(queue, image(), 1, 0, 16), 120);
    reject('a copy of an image as bytes', kind, (a) => cl.enqueueCopyBuffer(queue, image(), a, 0, 0, 16));
    reject('a mapping of an image as bytes', kind, () =>
      cl.enqueueMapBuffer(queue, image(), true, cl.MAP_READ, 0, 16),
    );
    reject('a sub-buffer of an image', kind, () => part(image(), 0, 16));
    reject('a read of a buffer as an image', kind, (a) =>
      cl.enqueueReadImage(queue, a, true, at0, [1, 1, 1], 0, 0, host(16)),
    );
    reject('a mapping of a buffer as an image', kind, (a) =>
      cl.enqueueMapImage(queue, a, true, cl.MAP_READ, at0, [1, 1, 1]),
    );
    reject(
      'a fill of a buffer as an image',
      kind,
      (a) => cl.enqueueFillImage(queue, a, [1, 2, 3, 4], at0, [1, 1, 1]),
      120,
    );

    const shapes: [string, object, number][] = [
      ['rows shorter than the image', { row_pitch: 4 }, 64],
      ['rows of part of a pixel', { row_pitch: 17 }, 68],
      ['slices shorter than the rows', { slice_pitch: 1 }, 64],
      ['pitches without host memory', { row_pitch: 64 }, 0],
      ['mip levels', { num_mip_levels: 5 }, 64],
      ['several samples', { num_samples: 4 }, 64],
    ];
    for (const [what, differences, bytes] of shapes) {
      reject(
        `an image with ${what}`,
        cl.INVALID_IMAGE_DESCRIPTOR,
        () =>
          cl.createImage(
            context,
            bytes ? cl.MEM_COPY_HOST_PTR : cl.MEM_READ_WRITE,
            RGBA,
            { ...shape, ...differences },
            bytes ? host(bytes) : null,
          ),
        120,
      );
    }
    reject('a createImage2D image with rows shorter than the image', cl.INVALID_IMAGE_SIZE, () =>
      cl.createImage2D(context, cl.MEM_COPY_HOST_PTR, RGBA, 4, 4, 4, host(64)),
    );
    reject(
      'an image larger than the buffer that it is made from',
      cl.INVALID_IMAGE_DESCRIPTOR,
      (a) =>
        cl.createImage(context, cl.MEM_READ_WRITE, RGBA, {
          type: cl.MEM_OBJECT_IMAGE2D,
          width: 64,
          height: 65,
          buffer: a,
        }),
      120,
    );
  }

  for (const [claim, error, since, call] of rejected) {
    where(
      version >= since,
      'needs a newer OpenCL',
      test,
    )(title(`the addon rejects ${claim}`), (t) => {
      const a = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, BYTES, contents());
      const b = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, BYTES, contents());
      const caught = thrown(() => call(a, b));
      t.is(caught.message, error.message, `${caught.stack}`);
      t.truthy(caught.reason, 'the addon refuses it, not the driver, which may do so, too');
      untouched(t, a);
      untouched(t, b);
      for (const buffer of [a, b]) cl.releaseMemObject(buffer);
    });
  }

  test(title('ranges and boxes that end exactly at the end of the buffer are accepted'), (t) => {
    const a = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, BYTES, contents());
    const b = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, BYTES, contents());
    const half = part(a, BYTES / 2, BYTES / 2);
    const bytes = host(16);
    cl.enqueueReadBuffer(queue, a, true, BYTES - 16, 16, bytes);
    t.deepEqual(bytes, contents().slice(-16));
    cl.enqueueReadBuffer(queue, half, true, BYTES / 2 - 16, 16, bytes);
    t.deepEqual(bytes, contents().slice(-16));
    cl.enqueueCopyBuffer(queue, a, a, 0, 16, 16);
    cl.enqueueCopyBuffer(queue, half, a, 0, BYTES / 2 - 16, 16);
    cl.enqueueCopyBufferRect(queue, a, b, [0, 0, 0], [BYTES - 16, 0, 0], [16, 1, 1], 0, 0, 0, 0);
    cl.enqueueReadBufferRect(queue, a, true, [0, 0, 15], [0, 0, 0], [16, 1, 1], 16, 256, 0, 0, bytes);
    t.deepEqual(bytes, contents().slice(15 * 256, 15 * 256 + 16));
    cl.finish(queue);
    for (const buffer of [half, a, b]) cl.releaseMemObject(buffer);
  });

  test(title('two boxes overlap exactly if they have a byte in common'), (t) => {
    // Against a model that marks every byte, over all small cases of a family.
    const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, BYTES, contents());
    const cover = ([x, y, z]: number[], [w, h, d]: number[], row: number, slice: number) => {
      const bytes = new Set<number>();
      for (let k = 0; k < (d ?? 0); k++)
        for (let j = 0; j < (h ?? 0); j++)
          for (let i = 0; i < (w ?? 0); i++)
            bytes.add(((z ?? 0) + k) * slice + ((y ?? 0) + j) * row + (x ?? 0) + i);
      return bytes;
    };
    for (const region of [
      [3, 2, 1],
      [2, 2, 2],
      [5, 1, 2],
    ]) {
      for (let at = 0; at < 64; at++) {
        const target = [at % 7, Math.floor(at / 7) % 3, Math.floor(at / 21)];
        for (const source of [
          [1, 1, 1],
          [4, 0, 0],
        ]) {
          const [a, b] = [cover(source, region, 6, 12), cover(target, region, 6, 12)];
          const meet = [...a].some((byte) => b.has(byte));
          let reason: string | undefined;
          try {
            cl.enqueueCopyBufferRect(queue, buffer, buffer, source, target, region, 6, 12, 6, 12);
          } catch (error) {
            t.is((error as Error).message, overlap.message);
            ({ reason } = error as cl.OpenCLError); // a stricter driver creates none
          }
          t.is(reason !== undefined, meet, `${source} to ${target}, ${region}`);
        }
      }
    }
    cl.finish(queue);
    cl.releaseMemObject(buffer);
  });

  where(
    !(!images || version < 120),
    'no images, or OpenCL below 1.2',
    test,
  )(title('mapped images report their pitches under both names'), (t) => {
    const shape = { type: cl.MEM_OBJECT_IMAGE3D, width: 4, height: 3, depth: 2 };
    const image = cl.createImage(context, cl.MEM_COPY_HOST_PTR, RGBA, shape, host(96));
    const mapped = cl.enqueueMapImage(queue, image, true, cl.MAP_READ, [0, 0, 0], [4, 3, 2]);
    t.true((mapped.row_pitch ?? 0) >= 16);
    t.is(mapped.image_row_pitch, mapped.row_pitch);
    t.true((mapped.slice_pitch ?? 0) >= 48);
    t.is(mapped.image_slice_pitch, mapped.slice_pitch);
    cl.enqueueUnmapMemObject(queue, image, mapped);
    cl.finish(queue);
    cl.releaseMemObject(image);
  });
}
