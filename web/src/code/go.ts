import { type CodeField, commented, partOf, type Shape, shifted } from './shape.ts'

/** Go exports names that begin with a capital letter, and none of its own words does. */
const exported = (name: string) => (name[0] as string).toUpperCase() + name.slice(1)

export function go(shape: Shape): string {
  const { heading, epochMs, tickMs, bits, fields, timestamp, sequence, promises } = shape
  const rest = fields.filter((field) => field !== timestamp)
  const packages = promises.length === 0 ? ['fmt'] : ['fmt', 'runtime', 'sync', 'time']
  const type = bits === 64 ? 'uint64' : 'int64'
  const valueIn = (field: CodeField) => (field === timestamp ? 'tick' : `p.${exported(field.name)}`)
  const cast = (text: string, to: string) => (bits === 64 ? `${to}(${text})` : text)
  const parts = fields.map((field) => {
    const value = cast(valueIn(field), 'uint64')
    return field.shift === 0 ? value : shifted(value, field).replace(' << ', '<<')
  })
  const tight = (field: CodeField) => cast(partOf(field).replace(' >> ', '>>').replace(' & ', '&'), 'int64')
  return `${commented([`Package ids: ids of ${(heading[0] as string).replace('Ids of ', '')}`, ...heading.slice(1)], '//')}
package ids

import (${packages.map((name) => `\n\t"${name}"`).join('')}
)

const epochMs = ${epochMs}

type Parts struct {
	TimestampMs, ${rest.map(({ name }) => exported(name)).join(', ')} int64
}

func fit(name string, value, max int64) error {
	if value < 0 || value > max {
		return fmt.Errorf("%s is %d; it must be from 0 to %d", name, value, max)
	}
	return nil
}

func tickOf(timestampMs int64) (int64, error) {
	tick := timestampMs - epochMs
${
  tickMs === 1
    ? ''
    : `	if tick >= 0 {
		tick /= ${tickMs}
	}
`
}	return tick, fit("timestamp", tick, ${timestamp.max})
}

func Encode(p Parts) (${type}, error) {
	tick, err := tickOf(p.TimestampMs)
	if err != nil {
		return 0, err
	}
${rest
  .map(
    (field) => `	if err := fit("${field.label}", ${valueIn(field)}, ${field.max}); err != nil {
		return 0, err
	}
`,
  )
  .join('')}	return ${parts.join(' | ')}, nil
}

func Decode(id ${type}) (Parts, error) {
${
  bits === 64
    ? ''
    : `	if id>>${bits} != 0 {
		return Parts{}, fmt.Errorf("the id %d is negative, or has more than ${bits} bits", id)
	}
`
}	return Parts{
		(${tight(timestamp)})${tickMs === 1 ? '' : `*${tickMs}`} + epochMs,
		${rest.map((field) => `${tight(field)},`).join('\n\t\t')}
	}, nil
}
${
  promises.length === 0
    ? ''
    : `
${commented(promises, '//')}
type Generator struct {
	// Now returns milliseconds since 1970.
	Now func() int64

	mutex sync.Mutex
	parts Parts
	last  int64
}

// NewGenerator takes the numbers of the node; the other parts do not count.
func NewGenerator(node Parts) *Generator {
	return &Generator{Now: func() int64 { return time.Now().UnixMilli() }, parts: node, last: -1}
}

// Next returns an error where other languages throw.
func (g *Generator) Next() (${type}, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for {
		g.parts.TimestampMs = g.Now()
		tick, err := tickOf(g.parts.TimestampMs)
		if err != nil {
			return 0, err
		}
		switch {
		case tick < g.last:
			return 0, fmt.Errorf("the clock went back by %d ticks", g.last-tick)
		case tick > g.last:
			g.last, g.parts.Sequence = tick, 0
		case g.parts.Sequence == ${sequence.max}:
			runtime.Gosched()
			continue
		default:
			g.parts.Sequence++
		}
		return Encode(g.parts)
	}
}
`
}`
}
