import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe } from 'vitest'
import { consul } from '../stores/kinds/consul.ts'
import { etcd } from '../stores/kinds/etcd.ts'
import { mysql } from '../stores/kinds/mysql.ts'
import { postgres } from '../stores/kinds/postgres.ts'
import { redis } from '../stores/kinds/redis.ts'
import { needsAll } from './bare.ts'
import { engines } from './engines.ts'

// The tools that tests need. A missing tool fails the test in CI on Linux, unless GRAUPEL_TEST_BARE is set;
// elsewhere the test is skipped, and says why.

/** A folder of this test file's own, on a disk. */
export const folder = mkdtempSync(join(tmpdir(), 'graupel-host-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isLinux = process.platform === 'linux'
const isRoot = process.getuid?.() === 0
const mountCommand = ['unshare', '--mount', '--propagation', 'private', ...(isRoot ? [] : ['--map-root-user'])]

const found = new Map<string, string | undefined>()

/** Each function finds its tool, or names it as missing. */
const tools = {
  native: () => (engines.includes('native') ? undefined : 'native engine'),
  linux: () => (isLinux ? undefined : 'Linux'),
  root: () => (isRoot ? undefined : 'root'),
  mounts: () =>
    runs([...mountCommand, 'mount', '-t', 'tmpfs', 'none', '/mnt']) ? undefined : 'leave to mount (unshare --mount)',
  userns: () => (runs(inUserNamespace(['true'])) ? undefined : 'leave to make a user namespace (unshare --user)'),
  setpriv: () => (runs(['setpriv', '--version']) ? undefined : 'setpriv (Debian package util-linux)'),
  faketime: () => (libfaketime() === undefined ? 'libfaketime (Debian package faketime)' : undefined),
  consul: consul.missing,
  etcd: etcd.missing,
  openssl: () => (runs(['openssl', 'version']) ? undefined : 'openssl (Debian package openssl)'),
  redis: redis.missing,
  // Debian's own Python, because another python3 on PATH does not see its packages.
  redisPy: () =>
    runs(['/usr/bin/python3', '-c', 'import redis']) ? undefined : 'redis-py (Debian package python3-redis)',
  mysql: mysql.missing,
  postgres: postgres.missing,
  pgbouncer: () => (runs(['pgbouncer', '--version']) ? undefined : 'pgbouncer (Debian package pgbouncer)'),
  prometheus: () =>
    runs(['prometheus', '--version']) && runs(['promtool', '--version'])
      ? undefined
      : 'prometheus (Debian package prometheus)',
  spin: () => (runs(['spin', '-V']) ? undefined : 'spin (Debian package spin)'),
  sqlite3: () => (runs(['sqlite3', '--version']) ? undefined : 'sqlite3 (Debian package sqlite3)'),
  systemd: () => (runs(['systemd-analyze', '--version']) ? undefined : 'systemd-analyze (Debian package systemd)'),
  haproxy: () => (runs(['haproxy', '-v']) ? undefined : 'haproxy (Debian package haproxy)'),
  curl: () => (runs(['curl', '--version']) ? undefined : 'curl (Debian package curl)'),
  python: () => (runs(['python3', '--version']) ? undefined : 'python3 (Debian package python3)'),
  javac: () => (runs(['javac', '--version']) ? undefined : 'javac (Debian package default-jdk-headless)'),
  ruby: () => (runs(['ruby', '--version']) ? undefined : 'ruby (Debian package ruby)'),
  php: () => (runs(['php', '--version']) ? undefined : 'php (Debian package php-cli)'),
  mono: () =>
    runs(['mcs', '--version']) && runs(['mono', '--version'])
      ? undefined
      : 'mcs and mono (Debian packages mono-mcs, mono-runtime)',
  go: () => (runs(['go', 'version']) ? undefined : 'go (Debian package golang-go)'),
  jq: () => (runs(['jq', '--version']) ? undefined : 'jq (Debian package jq)'),
  shim: () => (shim() === undefined ? 'a C compiler (cc)' : undefined),
}
export type Tool = keyof typeof tools

/** Returns `describe`, or a function that skips the tests if a tool is missing. */
export function describeWith(
  needed: readonly (Tool | (() => string | undefined))[],
  name: string,
  body: () => void,
  options: { readonly concurrent?: boolean } = {},
): void {
  const missing = needed
    .map((tool) => (typeof tool === 'string' ? tools[tool]() : tool()))
    .filter((reason) => reason !== undefined)
    .join(', ')
  if (missing !== '' && needsAll) throw new Error(`CI needs for '${name}': ${missing}`)
  if (missing === '') describe(name, options, body)
  else describe.skip(`${name}: left out, as there is no ${missing}`, body)
}

/**
 * A command in a mount namespace of its own, after a script in there: 'umount' and 'mount' are of no harm.
 */
export function withMounts(script: string, command: readonly string[]): string[] {
  return [...mountCommand, 'sh', '-ec', `${script}\nexec "$@"`, 'sh', ...command]
}

/** A command in the mount namespace of such a process. */
export function inMountsOf(pid: number, command: readonly string[]): string[] {
  return ['nsenter', `--target=${pid}`, '--mount', ...(isRoot ? [] : ['--user', '--preserve-credentials']), ...command]
}

/**
 * A command in a user namespace of its own. Its user has another id there, also if that is root
 * (--map-root-user would keep root's).
 */
export function inUserNamespace(command: readonly string[]): string[] {
  return ['unshare', '--user', '--map-user=4711', ...command]
}

/**
 * A command that root's right to open everything is taken from, so that it is stopped by modes as others are.
 */
export function withoutRootsRights(command: readonly string[]): string[] {
  return isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', ...command] : [...command]
}

export function libfaketime(): string | undefined {
  return once('faketime', () => {
    const root = '/usr/lib'
    const folders = [root, ...(existsSync(root) ? readdirSync(root) : []).map((name) => join(root, name))]
    return folders.map((name) => join(name, 'faketime/libfaketimeMT.so.1')).find((file) => existsSync(file))
  })
}

/** The library made of programs/shim.c. */
export function shim(): string | undefined {
  return once('shim', () => {
    const source = fileURLToPath(new URL('../host/programs/shim.c', import.meta.url))
    const file = join(folder, 'shim.so')
    const flags = ['-O1', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC']
    const compiler = process.env['CC'] ?? 'cc'
    if (!isLinux || !runs([compiler, '--version'])) return undefined
    const done = spawnSync(compiler, [...flags, '-o', file, source, '-ldl'], { encoding: 'utf8' })
    if (done.status !== 0) throw new Error(`the shim does not compile: ${done.stderr}`)
    return file
  })
}

function once(name: string, find: () => string | undefined): string | undefined {
  if (!found.has(name)) found.set(name, find())
  return found.get(name)
}

function runs([command = '', ...rest]: readonly string[]): boolean {
  return isLinux && spawnSync(command, rest, { stdio: 'ignore' }).status === 0
}
