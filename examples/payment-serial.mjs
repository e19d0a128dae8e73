// Numbers of payments as text of digits: business 3, date and time 17, node 2, sequence 3.
//
//   npm install graupel
//   GRAUPEL_NODE=7 node payment-serial.mjs
//
// It prints three numbers and their parts. The text is the id in another form: no two ids have the same text,
// and no database is needed.
import { createGenerator, decode, defineLayout, defineSerial } from 'graupel'

// Nine bits of sequence count to 511, which has three digits. Ten bits count to 1023, so {sequence:3} is
// refused for them. After 512 numbers of one millisecond, the generator waits for the next millisecond.
const payments = defineLayout({
  name: 'payments',
  epochMs: Date.UTC(2024, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['node', 6],
    ['sequence', 9],
  ],
})

// The node, 0 to 63, comes from the variable GRAUPEL_NODE; it can also be leased.
const ids = createGenerator({ layout: payments })

const serial = defineSerial({
  pattern: '001{yyyyMMddHHmmssSSS}{node:2}{sequence:3}',
  layout: payments,
  timeZone: '+08:00',
})

for (const id of ids.take(3)) {
  const text = serial.format(id)
  const { timestamp, node, sequence } = decode(serial.parse(text), payments)
  console.log(`${text}  ${timestamp.toISOString()}, node ${node}, sequence ${sequence}`)
}
