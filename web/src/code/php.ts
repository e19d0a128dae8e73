import { commented, partOf, type Shape, shifted } from './shape.ts'

export function php(shape: Shape): string {
  const { heading, epochMs, tickMs, bits, fields, own, timestamp, sequence, promises } = shape
  const rest = fields.filter((field) => field !== timestamp)
  const parts = fields.map((field) =>
    shifted(
      field === timestamp ? 'self::tickOf($timestampMs)' : `self::fit('${field.label}', $${field.name}, ${field.max})`,
      field,
    ),
  )
  const list = (all: readonly { name: string }[], before: string) => all.map(({ name }) => before + name).join(', ')
  const ownWith = (before: string) => own.map(({ name }) => `${before}${name}, `).join('')
  return `<?php
declare(strict_types=1);

${commented([...heading, 'An int of PHP must have 64 bits, which it has on all 64-bit systems.'], '//')}
if (PHP_INT_SIZE < 8) {
    throw new RuntimeException('these ids need a PHP with 64-bit integers');
}

final class Ids
{
    private const EPOCH_MS = ${epochMs};

    private static function fit(string $name, int $value, int $max): int
    {
        if ($value < 0 || $value > $max) {
            throw new RangeException("$name is $value; it must be from 0 to $max");
        }
        return $value;
    }

    public static function tickOf(int $timestampMs): int
    {
        $ms = $timestampMs - self::EPOCH_MS;
        return self::fit('timestamp', ${tickMs === 1 ? '$ms' : `$ms < 0 ? $ms : intdiv($ms, ${tickMs})`}, ${timestamp.max});
    }

    public static function encode(int $timestampMs, ${list(rest, 'int $')}): int
    {
        return ${parts.join('\n            | ')};
    }

    public static function decode(int $id): array
    {
${
  bits === 64
    ? ''
    : `        if ($id >> ${bits} !== 0) {
            throw new RangeException("the id $id is negative, or has more than ${bits} bits");
        }
`
}        return [
            'timestampMs' => (${partOf(timestamp, '$id')})${tickMs === 1 ? '' : ` * ${tickMs}`} + self::EPOCH_MS,
            ${rest.map((field) => `'${field.name}' => ${partOf(field, '$id')},`).join('\n            ')}
        ];
    }
${
  bits === 64
    ? `
    // An id above 2^63 - 1 is a negative int: sprintf('%u', $id) prints it, and this function reads it.
    public static function read(string $digits): int
    {
        [$high, $low] = [0, 0];
        foreach (str_split($digits) as $digit) {
            $low = $low * 10 + (int) $digit;
            $high = $high * 10 + ($low >> 32);
            $low &= 0xffffffff;
        }
        if ($high > 0xffffffff || !ctype_digit($digits)) {
            throw new RangeException("the id $digits is no number");
        }
        return $high << 32 | $low;
    }
`
    : ''
}}
${
  promises.length === 0
    ? ''
    : `
${commented([...promises, 'A request of a web server begins without the last id: use this in programs that keep running.'], '//')}
final class IdGenerator
{
    private int $last = -1;
    private int $sequence = 0;

    // $now returns the time in milliseconds since 1970; without it, the time is the clock's.
    public function __construct(${ownWith('private int $')}private ?Closure $now = null)
    {
        // Whole milliseconds, where microtime(true) is a float of seconds.
        $this->now ??= fn (): int => (int) (new DateTimeImmutable())->format('Uv');
    }

    public function next(): int
    {
        $timestampMs = ($this->now)();
        while (Ids::tickOf($timestampMs) === $this->last && $this->sequence === ${sequence.max}) {
            usleep(50);
            $timestampMs = ($this->now)();
        }
        $tick = Ids::tickOf($timestampMs);
        if ($tick < $this->last) {
            throw new RuntimeException('the clock went back by ' . ($this->last - $tick) . ' ticks');
        }
        $this->sequence = $tick === $this->last ? $this->sequence + 1 : 0;
        $this->last = $tick;
        return Ids::encode($timestampMs, ${list(rest, '$this->')});
    }
}
`
}`
}
