// Tools that copy a program with the files that it imports, such as @vercel/nft, Next.js and Nitro, read this
// file and do not run it. They copy what stands at a path that is put together of __dirname. All targets are
// named, because the copy may run on another system than the build.
const { join } = require('node:path')

exports.shipped = join(__dirname, '../../prebuilds')
exports.compiled = join(__dirname, '../../build/Release')
// By which a bundled graupel knows the folder of its package.
exports.manifest = join(__dirname, '../../package.json')
