{
  'targets': [
    {
      'target_name': 'clsort',
      'sources': [
        'src/native/addon.cc',
        'src/native/call.cc',
        'src/native/checksum.cc',
        'src/native/context.cc',
        'src/native/crew.cc',
        'src/native/device.cc',
        'src/native/environment.cc',
        'src/native/event.cc',
        'src/native/host_memory.cc',
        'src/native/image.cc',
        'src/native/info.cc',
        'src/native/kernel.cc',
        'src/native/launches.cc',
        'src/native/loader.cc',
        'src/native/memory.cc',
        'src/native/object.cc',
        'src/native/once.cc',
        'src/native/pipe.cc',
        'src/native/platform.cc',
        'src/native/program.cc',
        'src/native/queue.cc',
        'src/native/sampler.cc',
        'src/native/staging.cc',
        'src/native/svm.cc',
        'src/native/transfer.cc',
        'src/native/wait.cc',
      ],
      'include_dirs': ['<!(node -e "require(\'nan\')")'],
      # No C++ standard is named: each Node version's own headers bring the one that they need.
      'conditions': [
        ['OS=="linux"', {
          'libraries': ['-ldl', '-pthread'],
          'cflags_cc': ['-Wall', '-Wextra', '-Wno-unused-parameter', '-Wno-cast-function-type',
                        '-fvisibility=hidden'],
        }],
        ['OS=="mac"', {
          'xcode_settings': {
            'GCC_ENABLE_CPP_EXCEPTIONS': 'NO',
            'GCC_SYMBOLS_PRIVATE_EXTERN': 'YES',
            'MACOSX_DEPLOYMENT_TARGET': '11.0',
          },
          'include_dirs': ['/opt/homebrew/opt/opencl-headers/include', '/usr/local/opt/opencl-headers/include'],
        }],
      ],
    },
  ],
}
