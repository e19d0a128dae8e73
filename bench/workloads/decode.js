import { codec } from './codec.js'

/** All fields; of what comes, the time is looked at. */
export default codec({
  name: 'decode',
  title: 'decode',
  use: ({ decode }) => decode,
  isRight: (fields, id, { shift, epochMs }, { timeOf }) =>
    BigInt(timeOf?.(fields) ?? -1) === (id >> BigInt(shift)) + BigInt(epochMs),
})
