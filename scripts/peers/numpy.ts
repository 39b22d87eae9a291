/** Features that NumPy 2 names as groups, and NumPy 1 one by one; each version ignores the names that it does not know. */
export const WITHOUT_AVX512 = {
  NPY_DISABLE_CPU_FEATURES: 'X86_V4 AVX512_ICL AVX512_SPR AVX512_SKX AVX512F AVX512CD',
};
