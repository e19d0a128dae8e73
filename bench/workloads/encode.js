import { codec } from './codec.js'

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const lower = upper.toLowerCase()
/** Both orders are in use. */
const alphabets = [`0123456789${upper}${lower}`, `0123456789${lower}${upper}`]

export default codec({
  name: 'encode',
  title: 'encode in base 62',
  use: ({ encode }) => encode,
  isRight: (text, id) => alphabets.some((digits) => readNumber(text, digits) === id),
})

/**
 * @param {string} text
 * @param {string} digits
 */
function readNumber(text, digits) {
  return [...text].reduce((value, digit) => value * 62n + BigInt(digits.indexOf(digit)), 0n)
}
