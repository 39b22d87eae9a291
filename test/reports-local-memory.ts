import { Device } from '../src/device/device.js';
import { Program } from '../src/device/programs/program.js';

/** Uses 1 KiB of local memory. */
const SOURCE = `
__kernel void reversed(__global uint *words)
{
    __local uint kept[256];
    const uint item = (uint)get_local_id(0);
    kept[item] = words[item];
    barrier(CLK_LOCAL_MEM_FENCE);
    words[item] = kept[255 - item];
}
`;

/**
 * Whether the driver reports the local memory of a kernel correctly. PoCL 6 reports 0, rusticl 22 twice the size.
 *
 * @param spec device spec; the device is opened and closed
 */
export async function reportsLocalMemory(spec: string): Promise<true | string> {
  const device = await Device.open(spec);
  try {
    const { context, handle, capabilities } = device;
    const options = capabilities.quirks.acceptsClStd ? '-cl-std=CL1.2' : '';
    const place = { context, device: handle };
    const program = await Program.build(place, { source: SOURCE, options }, 'reversed');
    const reported = program.kernel('reversed').localBytes;
    program.release();
    return reported === 1024 || `the driver reports ${reported} bytes for a kernel that uses 1024`;
  } finally {
    await device.close();
  }
}
