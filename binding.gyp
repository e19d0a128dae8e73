{
  "targets": [
    {
      "target_name": "graupel",
      "sources": [
        "native/binding/addon.cc",
        "native/binding/calls.cc",
        "native/binding/environment.cc",
        "native/binding/options.cc",
        "native/core/clock.cc",
        "native/core/durable_ceiling.cc",
        "native/core/header.cc",
        "native/core/home.cc",
        "native/core/module_copies_posix.cc",
        "native/core/module_copies_win.cc",
        "native/core/own_files_win.cc",
        "native/core/page.cc",
        "native/core/process_state.cc",
        "native/core/processes_posix.cc",
        "native/core/processes_win.cc",
        "native/core/shared_state_posix.cc",
        "native/core/shared_state_win.cc",
        "native/core/state_file.cc",
        "native/core/users.cc"
      ],
      "defines": ["NAPI_VERSION=8"],
      "cflags!": ["-O2"],
      "cflags": ["-O3", "-Wall", "-Wextra", "-fvisibility=hidden"],
      "cflags_cc!": ["-std=gnu++17", "-std=gnu++20", "-O2"],
      "cflags_cc": ["-std=c++20"],
      "xcode_settings": {
        "CLANG_CXX_LANGUAGE_STANDARD": "c++20",
        "GCC_OPTIMIZATION_LEVEL": "3",
        "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
        "MACOSX_DEPLOYMENT_TARGET": "11.0"
      },
      "msvs_settings": {
        "VCCLCompilerTool": { "AdditionalOptions": ["/std:c++20", "/O2"] }
      },
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
