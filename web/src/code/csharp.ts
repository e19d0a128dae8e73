import { commented, partOf, type Shape, shifted } from './shape.ts'

export function csharp(shape: Shape): string {
  const { heading, epochMs, tickMs, bits, fields, own, timestamp, sequence, promises } = shape
  const rest = fields.filter((field) => field !== timestamp)
  const type = bits === 64 ? 'ulong' : 'long'
  const cast = (text: string) => (bits === 64 ? `(ulong)${text}` : text)
  const parts = fields.map((field) =>
    shifted(
      cast(field === timestamp ? 'TickOf(timestampMs)' : `Fit("${field.label}", ${field.name}, ${field.max})`),
      field,
    ),
  )
  const back = (text: string) => (bits === 64 ? `(long)(${text})` : text)
  const list = (all: readonly { name: string }[], before = '') => all.map(({ name }) => before + name).join(', ')
  return `${commented(heading, '//')}
using System;
using System.Threading;

public struct Parts
{
    public long timestampMs, ${list(rest)};
}

public static class Ids
{
    const long EpochMs = ${epochMs};

    static long Fit(string name, long value, long max)
    {
        if (value < 0 || value > max) throw new ArgumentOutOfRangeException(name, value, "must be from 0 to " + max);
        return value;
    }

    internal static long TickOf(long timestampMs)
    {
        long ms = timestampMs - EpochMs;
        return Fit("timestamp", ${tickMs === 1 ? 'ms' : `ms < 0 ? ms : ms / ${tickMs}`}, ${timestamp.max});
    }

    public static ${type} Encode(long timestampMs, ${list(rest, 'long ')})
    {
        return ${parts.join('\n            | ')};
    }

    public static Parts Decode(${type} id)
    {
${
  bits === 64
    ? ''
    : `        if (id >> ${bits} != 0) throw new ArgumentOutOfRangeException("id", id, "negative, or more than ${bits} bits");
`
}        return new Parts {
            timestampMs = ${bits === 64 ? back(partOf(timestamp)) : `(${partOf(timestamp)})`}${tickMs === 1 ? '' : ` * ${tickMs}`} + EpochMs,
            ${rest.map((field) => `${field.name} = ${back(partOf(field))},`).join('\n            ')}
        };
    }
}
${
  promises.length === 0
    ? ''
    : `
${commented(promises, '//')}
public sealed class Generator
{
    ${own.length === 0 ? '' : `readonly long ${list(own)};\n    `}readonly Func<long> now;
    readonly object mutex = new object();
    long last = -1, sequence = 0;

    public Generator(${own.map(({ name }) => `long ${name}, `).join('')}Func<long> now = null)
    {
        ${own.map(({ name }) => `this.${name} = ${name};\n        `).join('')}this.now = now ?? (() => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
    }

    public ${type} Next()
    {
        lock (mutex)
        {
            long timestampMs = now();
            while (Ids.TickOf(timestampMs) == last && sequence == ${sequence.max})
            {
                Thread.Yield();
                timestampMs = now();
            }
            long tick = Ids.TickOf(timestampMs);
            if (tick < last) throw new InvalidOperationException("the clock went back by " + (last - tick) + " ticks");
            sequence = tick == last ? sequence + 1 : 0;
            last = tick;
            return Ids.Encode(timestampMs, ${list(rest)});
        }
    }
}
`
}`
}
