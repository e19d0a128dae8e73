{
  "target_defaults": {
    # The headers of node-addon-api are in node_modules of a clone, and beside the sources in the package
    # (scripts/prepack.ts).
    "include_dirs": ["node_modules/node-addon-api", "native/node-addon-api"],
    # A worker may be terminated inside a call of Node-API. The call then fails, and node-addon-api throws an
    # error.
    # DISABLE_CPP_EXCEPTIONS: node-addon-api throws in JavaScript. node-gyp compiles without C++ exceptions.
    # SWALLOW_UNTHROWABLE_EXCEPTIONS: node-addon-api accepts that Node refuses to throw in a thread that ends.
    # Without this define it ends the process: 40 processes that terminated 24 workers each, which opened
    # generators and got errors, all aborted. With the define none of 40 aborted.
    "defines": [
      "NAPI_VERSION=8",
      "NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS",
      "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"
    ],
    "cflags!": ["-O2"],
    "cflags": ["-Wall", "-Wextra", "-fvisibility=hidden"],
    "cflags_cc!": ["-std=gnu++17", "-std=gnu++20", "-O2"],
    "cflags_cc": ["-std=c++20"],
    "xcode_settings": {
      "CLANG_CXX_LANGUAGE_STANDARD": "c++20",
      "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
      "MACOSX_DEPLOYMENT_TARGET": "11.0"
    }
  },
  "targets": [
    {
      # Opens generators, pages and files. No code in it runs for each id, so it is optimized for size, which
      # makes it half as large.
      "target_name": "host",
      "type": "static_library",
      "sources": [
        "native/binding/bounds.cc",
        "native/binding/open.cc",
        "native/binding/options.cc",
        "native/binding/report.cc",
        "native/host/durable_ceiling.cc",
        "native/host/generation.cc",
        "native/host/header.cc",
        "native/host/home.cc",
        "native/host/page.cc",
        "native/host/process_state.cc",
        "native/host/state_file.cc",
        "native/host/users.cc",
        "native/platform/posix/generation_posix.cc",
        "native/platform/posix/memory_folder_posix.cc",
        "native/platform/posix/module_copies_posix.cc",
        "native/platform/posix/new_file_posix.cc",
        "native/platform/posix/own_files_posix.cc",
        "native/platform/posix/processes_posix.cc",
        "native/platform/posix/shared_file_posix.cc",
        "native/platform/posix/system_posix.cc",
        "native/platform/windows/generation_win.cc",
        "native/platform/windows/memory_folder_win.cc",
        "native/platform/windows/module_copies_win.cc",
        "native/platform/windows/new_file_win.cc",
        "native/platform/windows/own_files_win.cc",
        "native/platform/windows/processes_win.cc",
        "native/platform/windows/shared_file_win.cc",
        "native/platform/windows/system_win.cc"
      ],
      "cflags!": ["-O3"],
      "cflags": ["-Os"],
      "xcode_settings": { "GCC_OPTIMIZATION_LEVEL": "s" },
      "msvs_settings": { "VCCLCompilerTool": { "AdditionalOptions": ["/std:c++20", "/O1"] } }
    },
    {
      "target_name": "graupel",
      "dependencies": ["host"],
      "sources": [
        "native/binding/addon.cc",
        "native/binding/calls.cc",
        "native/binding/elements.cc",
        "native/binding/environment.cc",
        "native/binding/exceed.cc",
        "native/binding/no_demangler.cc",
        "native/binding/uuids.cc",
        "native/core/clock.cc"
      ],
      "cflags": ["-O3", "-falign-loops=32"],
      "xcode_settings": { "GCC_OPTIMIZATION_LEVEL": "3" },
      "msvs_settings": { "VCCLCompilerTool": { "AdditionalOptions": ["/std:c++20", "/O2"] } },
      "conditions": [
        ["OS=='win'", { "libraries": ["-lpsapi.lib", "-luserenv.lib"] }],
        [
          "OS=='linux'",
          {
            "ldflags": ["-static-libstdc++", "-static-libgcc", "-Wl,--gc-sections", "-Wl,--version-script=../native/binding/exports.map"]
          }
        ]
      ]
    }
  ]
}
