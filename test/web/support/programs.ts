import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Layout } from 'graupel'
import { idCode } from '../../../web/src/code/index.ts'
import { shapeOf } from '../../../web/src/code/shape.ts'
import { folder } from '../../support/needs.ts'

// Programs around the code of the page. Each reads lines of words and answers each line by one line:
//   encode TIME VALUE…         the id
//   decode ID                  the time and the values
//   make COUNT VALUE…          that many ids by the clock of the system
//   script COUNT VALUE… TIMES… calls of one generator whose clock shows these times, then the last of them
// VALUE… are those of all fields but the timestamp, for a generator also without the sequence. `error: …` is
// the answer, or in its place in the list, if the code refuses.

interface Program {
  readonly files: Readonly<Record<string, string>>
  readonly compile?: readonly string[]
  readonly run: readonly string[]
}

/** Returns the program in a language for a layout. */
function programOf(language: string, layout: Layout): Program {
  const code = idCode(language, layout)
  const shape = shapeOf(layout)
  const { own, timestamp } = shape
  const rest = shape.fields.filter((field) => field !== timestamp)
  const all = (text: (name: string, at: number) => string) => rest.map(({ name }, i) => text(name, i)).join(', ')
  const node = (text: (name: string, at: number) => string) => own.map(({ name }, i) => text(name, i)).join(', ')
  const nodeAnd = (text: (name: string, at: number) => string, after: string) =>
    [...own.map(({ name }, i) => text(name, i)), after].filter((one) => one !== '').join(', ')
  const count = own.length
  const makes = shape.promises.length > 0
  switch (language) {
    case 'JavaScript': {
      const generator = (now: string) =>
        `createIds(${[count === 0 ? '' : `{ ${node((name, i) => `${name}: n[${i}]`)} }`, now].filter(Boolean).join(', ')})`
      return {
        files: {
          'ids.mjs': code,
          'main.mjs': `import { readFileSync } from 'node:fs'
import * as ids from './ids.mjs'
const { encode, decode, createIds } = ids
const tried = (work) => { try { return work() } catch (error) { return 'error: ' + error.message.replaceAll(' ', '_') } }
for (const line of readFileSync(0, 'utf8').trim().split('\\n')) {
  const [command, ...words] = line.split(' ')
  const n = words.map(BigInt)
  if (command === 'encode') console.log(String(tried(() => encode({ timestampMs: n[0], ${all((name, i) => `${name}: n[${i + 1}]`)} }))))
  if (command === 'decode') console.log(tried(() => { const p = decode(n[0]); return [p.timestampMs, ${all((name) => `p.${name}`)}].join(' ') }))
  const count = Number(n.shift())
  ${
    makes
      ? `if (command === 'make') { const next = ${generator('')}; console.log(Array.from({ length: count }, () => next()).join(' ')) }
  if (command === 'script') {
    const times = n.slice(${count})
    const next = ${generator('() => (times.length > 1 ? times.shift() : times[0])')}
    console.log(Array.from({ length: count }, () => tried(next)).join(' '))
  }`
      : ''
  }
}
`,
        },
        run: [process.execPath, 'main.mjs'],
      }
    }
    case 'Python':
      return {
        files: {
          'ids.py': code,
          'main.py': `import sys
import ids
def tried(work):
    try:
        return work()
    except Exception as error:
        return "error: " + str(error).replace(" ", "_")
def decoded(id):
    p = ids.decode(id)
    return " ".join(str(one) for one in [p["timestamp_ms"], ${all((name) => `p["${name}"]`)}])
for line in sys.stdin:
    command, *words = line.split()
    n = [int(word) for word in words]
    if command == "encode":
        print(tried(lambda: ids.encode(n[0], ${all((_, i) => `n[${i + 1}]`)})))
    if command == "decode":
        print(tried(lambda: decoded(n[0])))
    if command == "make":
        made = ids.Generator(${node((_, i) => `n[${i + 1}]`)})
        print(*[made.next() for _ in range(n[0])])
    if command == "script":
        times = n[${count + 1}:]
        made = ids.Generator(${nodeAnd((_, i) => `n[${i + 1}]`, 'now=lambda: times.pop(0) if len(times) > 1 else times[0]')})
        print(*[tried(made.next) for _ in range(n[0])])
`,
        },
        run: ['python3', 'main.py'],
      }
    case 'Java':
      return {
        files: {
          'Ids.java': code,
          'Main.java': `import java.util.*;
import java.util.function.*;
public class Main {
  static String tried(Supplier<String> work) {
    try { return work.get(); } catch (RuntimeException error) { return "error: " + error.getMessage().replace(' ', '_'); }
  }
  static String text(long id) { return ${layout.bits === 64 ? 'Long.toUnsignedString(id)' : 'Long.toString(id)'}; }
  public static void main(String[] args) {
    Scanner in = new Scanner(System.in);
    while (in.hasNextLine()) {
      String[] words = in.nextLine().split(" ");
      long[] n = Arrays.stream(words).skip(1).mapToLong(${layout.bits === 64 ? 'w -> w.startsWith("-") ? Long.parseLong(w) : Long.parseUnsignedLong(w)' : 'Long::parseLong'}).toArray();
      if (words[0].equals("encode")) System.out.println(tried(() -> text(Ids.encode(n[0], ${all((_, i) => `n[${i + 1}]`)}))));
      if (words[0].equals("decode")) System.out.println(tried(() -> {
        Ids.Parts p = Ids.decode(n[0]);
        return p.timestampMs() + ${all((name) => `p.${name}()`)
          .replaceAll(', ', ' + ')
          .replaceAll('p.', '" " + p.')};
      }));
      ${
        makes
          ? `StringJoiner made = new StringJoiner(" ");
      if (words[0].equals("make")) {
        Ids.Generator ids = new Ids.Generator(${node((_, i) => `n[${i + 1}]`)});
        for (int i = 0; i < n[0]; i++) made.add(text(ids.next()));
        System.out.println(made);
      }
      if (words[0].equals("script")) {
        int[] at = { ${count} };
        Ids.Generator ids = new Ids.Generator(${nodeAnd((_, i) => `n[${i + 1}]`, '() -> n[at[0] < n.length - 1 ? ++at[0] : at[0]]')});
        for (int i = 0; i < n[0]; i++) made.add(tried(() -> text(ids.next())));
        System.out.println(made);
      }`
          : ''
      }
    }
  }
}
`,
        },
        compile: ['javac', 'Ids.java', 'Main.java'],
        run: ['java', '-cp', '.', 'Main'],
      }
    case 'Ruby':
      return {
        files: {
          'ids.rb': code,
          'main.rb': `require_relative 'ids'
def tried
  yield
rescue StandardError => e
  'error: ' + e.message.tr(' ', '_')
end
$stdin.each_line do |line|
  command, *words = line.split
  n = words.map(&:to_i)
  case command
  when 'encode'
    puts(tried { Ids.encode(timestamp_ms: n[0], ${all((name, i) => `${name}: n[${i + 1}]`)}) })
  when 'decode'
    puts(tried { p = Ids.decode(n[0]); [p[:timestamp_ms], ${all((name) => `p[:${name}]`)}].join(' ') })
  when 'make'
    made = Ids::Generator.new(${node((name, i) => `${name}: n[${i + 1}]`)})
    puts(Array.new(n[0]) { made.next }.join(' '))
  when 'script'
    times = n[${count + 1}..]
    made = Ids::Generator.new(${nodeAnd((name, i) => `${name}: n[${i + 1}]`, 'now: -> { times.length > 1 ? times.shift : times[0] }')})
    puts(Array.new(n[0]) { tried { made.next } }.join(' '))
  end
end
`,
        },
        run: ['ruby', '-W', 'main.rb'],
      }
    case 'PHP':
      return {
        files: {
          'ids.php': code,
          'main.php': `<?php
declare(strict_types=1);
error_reporting(E_ALL);
set_error_handler(fn (int $no, string $text) => throw new ErrorException($text));
require __DIR__ . '/ids.php';
function tried(callable $work) { try { return $work(); } catch (Throwable $e) { return 'error: ' . strtr($e->getMessage(), ' ', '_'); } }
function text(int $id): string { return ${layout.bits === 64 ? "sprintf('%u', $id)" : '(string) $id'}; }
function number(string $word): int { return ${layout.bits === 64 ? "$word[0] === '-' ? (int) $word : Ids::read($word)" : '(int) $word'}; }
while (($line = fgets(STDIN)) !== false) {
    $words = explode(' ', trim($line));
    $command = array_shift($words);
    $n = array_map('number', $words);
    if ($command === 'encode') echo tried(fn () => text(Ids::encode($n[0], ${all((_, i) => `$n[${i + 1}]`)}))), "\\n";
    if ($command === 'decode') echo tried(function () use ($n) { $p = Ids::decode($n[0]); return implode(' ', [$p['timestampMs'], ${all((name) => `$p['${name}']`)}]); }), "\\n";
    if ($command === 'make') {
        $made = new IdGenerator(${node((_, i) => `$n[${i + 1}]`)});
        echo implode(' ', array_map(fn () => text($made->next()), range(1, $n[0]))), "\\n";
    }
    if ($command === 'script') {
        $times = array_slice($n, ${count + 1});
        $at = -1;
        $now = function () use ($times, &$at) { if ($at < count($times) - 1) $at++; return $times[$at]; };
        $made = new IdGenerator(${nodeAnd((_, i) => `$n[${i + 1}]`, '$now')});
        echo implode(' ', array_map(fn () => tried(fn () => text($made->next())), range(1, $n[0]))), "\\n";
    }
}
`,
        },
        run: ['php', 'main.php'],
      }
    case 'C#': {
      const number = layout.bits === 64 ? 'unchecked((long)ulong.Parse(w))' : 'long.Parse(w)'
      return {
        files: {
          'Ids.cs': code,
          'Main.cs': `using System;
using System.Linq;
public static class Program
{
    static string Tried(Func<string> work)
    {
        try { return work(); } catch (Exception error) { return "error: " + error.Message.Split('\\n')[0].Replace(' ', '_'); }
    }
    public static void Main()
    {
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            var words = line.Split(' ');
            long[] n = words.Skip(1).Select(w => w.StartsWith("-") ? long.Parse(w) : ${number}).ToArray();
            if (words[0] == "encode") Console.WriteLine(Tried(() => Ids.Encode(n[0], ${all((_, i) => `n[${i + 1}]`)}).ToString()));
            if (words[0] == "decode") Console.WriteLine(Tried(() => { var p = Ids.Decode(${layout.bits === 64 ? 'unchecked((ulong)n[0])' : 'n[0]'}); return string.Join(" ", new long[] { p.timestampMs, ${all((name) => `p.${name}`)} }); }));
            ${
              makes
                ? `if (words[0] == "make")
            {
                var made = new Generator(${node((_, i) => `n[${i + 1}]`)});
                Console.WriteLine(string.Join(" ", Enumerable.Range(0, (int)n[0]).Select(i => made.Next())));
            }
            if (words[0] == "script")
            {
                var at = ${count};
                var made = new Generator(${nodeAnd((_, i) => `n[${i + 1}]`, '() => n[at < n.Length - 1 ? ++at : at]')});
                Console.WriteLine(string.Join(" ", Enumerable.Range(0, (int)n[0]).Select(i => Tried(() => made.Next().ToString()))));
            }`
                : ''
            }
        }
    }
}
`,
        },
        compile: ['mcs', '-warnaserror', '-out:main.exe', 'Ids.cs', 'Main.cs'],
        run: ['mono', 'main.exe'],
      }
    }
    case 'Go': {
      const exported = (name: string) => (name[0] as string).toUpperCase() + name.slice(1)
      const parts = node((name, i) => `${exported(name)}: n[${i + 1}]`)
      return {
        files: {
          'go.mod': 'module test\n\ngo 1.19\n',
          'ids/ids.go': code,
          'main.go': `package main
import ("bufio"; "fmt"; "os"; "strconv"; "strings"; "test/ids")
func text(id ${layout.bits === 64 ? 'uint64' : 'int64'}, err error) string {
	if err != nil { return "error: " + strings.ReplaceAll(err.Error(), " ", "_") }
	return fmt.Sprint(id)
}
func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		words := strings.Fields(in.Text())
		n := []int64{}
		for _, word := range words[1:] {
			one, err := strconv.ParseInt(word, 10, 64)
			if err != nil { big, err := strconv.ParseUint(word, 10, 64); if err != nil { panic(err) }; one = int64(big) }
			n = append(n, one)
		}
		made := []string{}
		switch words[0] {
		case "encode":
			made = append(made, text(ids.Encode(ids.Parts{TimestampMs: n[0], ${all((name, i) => `${exported(name)}: n[${i + 1}]`)}})))
		case "decode":
			p, err := ids.Decode(${layout.bits === 64 ? 'uint64(n[0])' : 'n[0]'})
			if err != nil { made = append(made, text(0, err)) } else {
				made = append(made, fmt.Sprint(p.TimestampMs), ${all((name) => `fmt.Sprint(p.${exported(name)})`)})
			}
		${
      makes
        ? `case "make", "script":
			g := ids.NewGenerator(ids.Parts{${parts}})
			if words[0] == "script" { at := ${count}; g.Now = func() int64 { if at < len(n)-1 { at++ }; return n[at] } }
			for i := int64(0); i < n[0]; i++ { made = append(made, text(g.Next())) }`
        : ''
    }
		}
		fmt.Println(strings.Join(made, " "))
	}
}
`,
        },
        compile: ['go', 'build', '-o', 'main', '.'],
        run: ['./main'],
      }
    }
    default:
      throw new Error(`there is no program in ${language}`)
  }
}

const programs = new Map<string, (lines: readonly string[]) => string[]>()

/** Compiles the code of a language and a layout once, and returns a function that sends lines to it. */
export function compiled(language: string, layout: Layout): (lines: readonly string[]) => string[] {
  const key = `${language} ${layout.name}`
  const known = programs.get(key)
  if (known !== undefined) return known
  const program = compile(language, layout)
  programs.set(key, program)
  return program
}

function compile(language: string, layout: Layout): (lines: readonly string[]) => string[] {
  const { files, compile: compiler, run } = programOf(language, layout)
  const cwd = mkdtempSync(join(folder, 'code-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  const env = { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off', GOCACHE: join(folder, 'go-cache') }
  const call = ([command = '', ...rest]: readonly string[], input = '') => {
    const { status, stdout, stderr, error } = spawnSync(command, rest, {
      cwd,
      env,
      input,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    })
    if (status !== 0 || stderr !== '')
      throw new Error(`${language}, ${layout.name}: ${error ?? ''}${stdout.slice(-2000)}${stderr}`)
    return stdout
  }
  if (compiler !== undefined) call(compiler)
  return (lines) =>
    call(run, `${lines.join('\n')}\n`)
      .trimEnd()
      .split('\n')
}
