/* Runs one long loop. Each step needs the result of the previous one, so that no compiler can shorten the loop. A driver
 * that ends long loops leaves the state of an earlier step. */
#define LOCAL_WORDS 1024

/* @param state  a word: not 0 before the launch; after it, the word after `steps` steps of xorshift
 * @param steps  iterations of the loop
 */
__kernel void driver_probe(__global uint *state, uint steps)
{
    __local uint words[LOCAL_WORDS]; /* the host compares this size with the driver's report */
    uint word = state[0];
    for (uint i = 0; i < steps; i++) {
        word ^= word << 13;
        word ^= word >> 17;
        word ^= word << 5;
    }
    words[word % LOCAL_WORDS] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    state[0] = words[word % LOCAL_WORDS];
}
