import { commented, partOf, type Shape, shifted } from './shape.ts'

export function java(shape: Shape): string {
  const { heading, epochMs, tickMs, bits, fields, own, timestamp, sequence, promises } = shape
  const rest = fields.filter((field) => field !== timestamp)
  const parts = fields.map((field) =>
    shifted(field === timestamp ? 'tickOf(timestampMs)' : `fit("${field.label}", ${field.name}, ${field.max}L)`, field),
  )
  const signed = [
    'An id above 2^63 - 1 is negative as a long: print it by Long.toUnsignedString, read it by',
    'Long.parseUnsignedLong, and compare it by Long.compareUnsigned.',
  ]
  const list = (all: readonly { name: string }[], before = '') => all.map(({ name }) => before + name).join(', ')
  const ticks = partOf(timestamp, 'id', 'L', '').replace('>>', '>>>')
  return `${commented(bits === 64 ? [...heading, ...signed] : heading, '//')}
import java.util.function.LongSupplier;

public final class Ids {
  static final long EPOCH_MS = ${epochMs}L;

  public record Parts(long timestampMs, ${list(rest, 'long ')}) {}

  static long fit(String name, long value, long max) {
    if (value < 0 || value > max) {
      throw new IllegalArgumentException(name + " is " + value + "; it must be from 0 to " + max);
    }
    return value;
  }

  static long tickOf(long timestampMs) {
    long ms = timestampMs - EPOCH_MS;
    return fit("timestamp", ${tickMs === 1 ? 'ms' : `ms < 0 ? ms : ms / ${tickMs}`}, ${timestamp.max}L);
  }

  public static long encode(long timestampMs, ${list(rest, 'long ')}) {
    return ${parts.join('\n        | ')};
  }

  public static Parts decode(long id) {
${
  bits === 64
    ? ''
    : `    if (id >> ${bits} != 0) throw new IllegalArgumentException("the id " + id + " is negative, or has more than ${bits} bits");
`
}    return new Parts(
        (${ticks})${tickMs === 1 ? '' : ` * ${tickMs}`} + EPOCH_MS,
        ${rest.map((field) => partOf(field, 'id', 'L', '').replace('>>', '>>>')).join(',\n        ')});
  }
${
  promises.length === 0
    ? ''
    : `
  ${commented(promises, '//').replaceAll('\n', '\n  ')}
  public static final class Generator {
    ${own.length === 0 ? '' : `private final long ${list(own)};\n    `}private final LongSupplier now;
    private long last = -1;
    private long sequence = 0;

    public Generator(${list(own, 'long ')}) {
      this(${list([...own, { name: 'System::currentTimeMillis' }])});
    }

    public Generator(${list([...own.map(({ name }) => ({ name: `long ${name}` })), { name: 'LongSupplier now' }])}) {
      ${own.map(({ name }) => `this.${name} = ${name};\n      `).join('')}this.now = now;
    }

    public synchronized long next() {
      long timestampMs = now.getAsLong();
      while (tickOf(timestampMs) == last && sequence == ${sequence.max}L) {
        Thread.onSpinWait();
        timestampMs = now.getAsLong();
      }
      long tick = tickOf(timestampMs);
      if (tick < last) throw new IllegalStateException("the clock went back by " + (last - tick) + " ticks");
      sequence = tick == last ? sequence + 1 : 0;
      last = tick;
      return encode(timestampMs, ${list(rest)});
    }
  }
`
}}
`
}
