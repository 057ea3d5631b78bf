import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface LockFile {
  packages: Record<
    string,
    {
      version?: string
      link?: boolean
      integrity?: string
      resolved?: string
      optionalDependencies?: Record<string, string>
    }
  >
}

/**
 * Native packages for other platforms, whose hashes were not available when they were locked. "node scripts/lock-integrity.mjs" adds them; a package in another version is not
 * exempt.
 */
const WITHOUT_INTEGRITY: Readonly<Record<string, string>> = {
  '@msgpackr-extract/msgpackr-extract-PLATFORM@3.0.7':
    'darwin-arm64 darwin-x64 linux-arm linux-arm64 win32-x64',
  '@oxc-parser/binding-PLATFORM@0.155.0':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  '@oxfmt/binding-PLATFORM@0.77.0':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  '@oxlint-tsgolint/PLATFORM@7.0.2006': 'darwin-arm64 darwin-x64 win32-arm64 win32-x64',
  '@oxlint/binding-PLATFORM@1.93.0':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  '@rolldown/binding-PLATFORM@1.2.19':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-ppc64-gnu linux-s390x-gnu openharmony-arm64 wasm32-wasi win32-arm64-msvc win32-x64-msvc',
}

const exempt = Object.entries(WITHOUT_INTEGRITY).flatMap(([pattern, platforms]) =>
  platforms.split(' ').map((platform) => pattern.replace('PLATFORM', platform)),
)

describe('the lock file', () => {
  const file = new URL('../../../package-lock.json', import.meta.url)
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as LockFile
  const nameOf = (path: string) => path.split('node_modules/').at(-1)
  const fromRegistry = Object.entries(packages)
    .filter(([path, { link = false }]) => path.includes('node_modules/') && !link)
    .map(([path, entry]) => ({ ...entry, id: `${nameOf(path)}@${entry.version}` }))

  // npm records only what it could download where it ran, and then refuses to install elsewhere.
  test('names the packages of every platform', () => {
    const locked = new Set(Object.keys(packages).map(nameOf))
    const wanted = Object.values(packages).flatMap((each) =>
      Object.keys(each.optionalDependencies ?? {}),
    )
    expect(wanted).toContain('@rolldown/binding-darwin-arm64')
    expect(wanted.filter((name) => !locked.has(name))).toEqual([])
  })

  test('has the hash of every package from the registry, apart from a list that only shrinks', () => {
    const unverified = fromRegistry.filter(
      ({ integrity = '' }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity),
    )
    expect(unverified.map(({ id }) => id).toSorted()).toEqual(exempt.toSorted())
  })

  test('names no registry', () => {
    expect(fromRegistry.filter(({ resolved }) => resolved !== undefined)).toEqual([])
  })
})
