import { writeFileSync } from 'node:fs'

/**
 * Writes the module that protoc-gen-es generates for a message with two ids, the second with `jstype =
 * JS_STRING`. protobufjs makes the descriptor, so that no compiler of protobuf is needed.
 */
export function writeOrderModule(load: NodeJS.Require, file: string): void {
  const { parse } = load('protobufjs')
  const { FileDescriptorSet } = load('protobufjs/ext/descriptor')
  const { root } = parse('syntax = "proto3"; message Order { fixed64 id = 1; fixed64 text = 2 [jstype = JS_STRING]; }')
  const set = root.toDescriptor('proto3')
  for (const field of set.file[0].messageType[0].field) field.jsonName = field.name
  // A set of one file is the file after a tag and its length.
  const bytes: Uint8Array = FileDescriptorSet.encode(set).finish()
  const text = Buffer.from(bytes.subarray((bytes[1] as number) < 128 ? 2 : 3)).toString('base64')
  writeFileSync(
    file,
    `import { fileDesc, messageDesc } from '@bufbuild/protobuf/codegenv2'
export const OrderSchema = messageDesc(fileDesc('${text}'), 0)\n`,
  )
}
