import { commented, partOf, type Shape, shifted } from './shape.ts'

export function python(shape: Shape): string {
  const { heading, epochMs, tickMs, bits, fields, own, timestamp, sequence, promises } = shape
  const rest = fields.filter((field) => field !== timestamp)
  const parts = fields.map((field) =>
    shifted(
      field === timestamp ? 'tick_of(timestamp_ms)' : `fit("${field.label}", ${field.name}, ${field.max})`,
      field,
    ),
  )
  const ticks = partOf(timestamp)
  return `${commented(heading, '#')}
import threading
import time

EPOCH_MS = ${epochMs}


def fit(name, value, max):
    if not 0 <= value <= max:
        raise ValueError(f"{name} is {value}; it must be from 0 to {max}")
    return value


def tick_of(timestamp_ms):
    return fit("timestamp", ${tickMs === 1 ? 'timestamp_ms - EPOCH_MS' : `(timestamp_ms - EPOCH_MS) // ${tickMs}`}, ${timestamp.max})


def encode(timestamp_ms, ${rest.map(({ name }) => name).join(', ')}):
    return (
        ${parts.join('\n        | ')}
    )


def decode(id):
    if id >> ${bits} != 0:
        raise ValueError(f"the id {id} is negative, or has more than ${bits} bits")
    return {
        "timestamp_ms": (${ticks})${tickMs === 1 ? '' : ` * ${tickMs}`} + EPOCH_MS,
        ${rest.map((field) => `"${field.name}": ${partOf(field)},`).join('\n        ')}
    }
${
  promises.length === 0
    ? ''
    : `

def system_ms():
    # Not time.time(), a float of seconds.
    return time.time_ns() // 1_000_000


${commented(promises, '#')}
class Generator:
    def __init__(self, ${own.map(({ name }) => `${name}, `).join('')}now=system_ms):
        self._own = {${own.map(({ name }) => `"${name}": ${name}`).join(', ')}}
        self._now = now
        self._lock = threading.Lock()
        self._last = -1
        self._sequence = 0

    def next(self):
        with self._lock:
            timestamp_ms = self._now()
            while tick_of(timestamp_ms) == self._last and self._sequence == ${sequence.max}:
                time.sleep(0)
                timestamp_ms = self._now()
            tick = tick_of(timestamp_ms)
            if tick < self._last:
                raise RuntimeError(f"the clock went back by {self._last - tick} ticks")
            self._sequence = self._sequence + 1 if tick == self._last else 0
            self._last = tick
            return encode(timestamp_ms=timestamp_ms, sequence=self._sequence, **self._own)
`
}`
}
