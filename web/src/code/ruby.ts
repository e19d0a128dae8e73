import { commented, partOf, type Shape, shifted } from './shape.ts'

export function ruby(shape: Shape): string {
  const { heading, epochMs, tickMs, bits, fields, own, timestamp, sequence, promises } = shape
  const rest = fields.filter((field) => field !== timestamp)
  const parts = fields.map((field) =>
    shifted(
      field === timestamp ? 'tick_of(timestamp_ms)' : `fit('${field.label}', ${field.name}, ${field.max})`,
      field,
    ),
  )
  const list = (all: readonly { name: string }[]) => all.map(({ name }) => `${name}:, `).join('')
  return `${commented(heading, '#')}
module Ids
  EPOCH_MS = ${epochMs}

  def self.fit(name, value, max)
    raise RangeError, "#{name} is #{value}; it must be from 0 to #{max}" unless value.between?(0, max)

    value
  end

  def self.tick_of(timestamp_ms)
    fit('timestamp', ${tickMs === 1 ? 'timestamp_ms - EPOCH_MS' : `(timestamp_ms - EPOCH_MS) / ${tickMs}`}, ${timestamp.max})
  end

  def self.encode(timestamp_ms:, ${list(rest).slice(0, -2)})
    ${parts.join(' |\n      ')}
  end

  def self.decode(id)
    raise RangeError, "the id #{id} is negative, or has more than ${bits} bits" if id >> ${bits} != 0

    {
      timestamp_ms: (${partOf(timestamp)})${tickMs === 1 ? '' : ` * ${tickMs}`} + EPOCH_MS,
      ${rest.map((field) => `${field.name}: ${partOf(field)}`).join(',\n      ')}
    }
  end
${
  promises.length === 0
    ? ''
    : `
  # A whole number, where Time.now.to_f is a float of seconds.
  SYSTEM_MS = -> { Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond) }

  ${commented(promises, '#').replaceAll('\n', '\n  ')}
  class Generator
    def initialize(${list(own)}now: SYSTEM_MS)
      @own = { ${own.map(({ name }) => `${name}: ${name}`).join(', ')} }
      @now = now
      @lock = Mutex.new
      @last = -1
      @sequence = 0
    end

    def next
      @lock.synchronize do
        timestamp_ms = @now.call
        while Ids.tick_of(timestamp_ms) == @last && @sequence == ${sequence.max}
          Thread.pass
          timestamp_ms = @now.call
        end
        tick = Ids.tick_of(timestamp_ms)
        raise "the clock went back by #{@last - tick} ticks" if tick < @last

        @sequence = tick == @last ? @sequence + 1 : 0
        @last = tick
        Ids.encode(timestamp_ms: timestamp_ms, sequence: @sequence, **@own)
      end
    end
  end
`
}end
`
}
