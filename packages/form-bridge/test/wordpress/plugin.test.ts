/**
 * The plugin's own tests, which need PHP but no WordPress, and its package. With REQUIRE_PHP=1 (set
 * in CI) missing PHP is a failure.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { strFromU8, unzipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { buildPlugin } from '../../../../scripts/build-plugin.mjs'
import { hasPhp } from './installations.ts'

const source = fileURLToPath(new URL('../../../../plugins/wordpress/form-bridge', import.meta.url))

if (!hasPhp && process.env['REQUIRE_PHP'] === '1') throw new Error('PHP is not installed')

describe.skipIf(!hasPhp)(`the plugin in PHP${hasPhp ? '' : ' (needs PHP)'}`, () => {
  const results = hasPhp ? ownTests() : []

  test('more than 40 tests of its own run', () => {
    expect(results.length).toBeGreaterThan(40)
  })

  test.each(results)('$name', ({ error }) => {
    expect(error).toBeNull()
  })

  test('every file is valid PHP', () => {
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.php'))
      .map((name) => join(source, name))
    const wrong = files.filter((file) => spawnSync('php', ['-n', '-l', file]).status !== 0)
    expect(wrong).toEqual([])
  })
})

function ownTests(): { name: string; error: string | null }[] {
  const { stdout, stderr } = spawnSync('php', [join(source, 'tests/run.php')], { encoding: 'utf8' })
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  if (lines.length === 0) throw new Error(`The tests of the plugin did not run: ${stdout}${stderr}`)
  return lines.map((line) => JSON.parse(line) as { name: string; error: string | null })
}

describe('the package of the plugin', () => {
  const publicKeys = [Buffer.alloc(32, 1).toString('base64')]
  const service = 'https://forms.example.com/form-bridge/'

  test('is reproducible byte for byte', () => {
    const first = buildPlugin({ service, publicKeys })
    expect(Buffer.from(buildPlugin({ service, publicKeys }).zip).equals(first.zip)).toBe(true)
  })

  test('contains the service URL, the trusted keys and the version', () => {
    const files = unzipSync(buildPlugin({ service, publicKeys, version: '2.3.4' }).zip)
    const text = (name: string) => strFromU8(files[`form-bridge/${name}`] ?? new Uint8Array())
    expect(text('form-bridge.php')).toMatch(/^ \* Version: +2\.3\.4$/m)
    expect(text('form-bridge.php')).toContain("define( 'FORM_BRIDGE_VERSION', '2.3.4' )")
    expect(text('form-bridge.php')).toMatch(
      /^ \* Update URI: +https:\/\/forms\.example\.com\/form-bridge\/v1\/plugins\/form-bridge$/m,
    )
    expect(text('readme.txt')).toContain('Stable tag: 2.3.4')
    expect(text('build.php')).toContain("'https://forms.example.com/form-bridge'")
    expect(text('build.php')).toContain(publicKeys[0])
  })

  test('is one folder without development files', () => {
    const names = Object.keys(unzipSync(buildPlugin({ service, publicKeys }).zip))
    expect(names.filter((name) => !name.startsWith('form-bridge/'))).toEqual([])
    expect(names.filter((name) => name.includes('/tests/'))).toEqual([])
    expect(names).toContain('form-bridge/uninstall.php')
  })

  test.each([
    [{ service: 'forms.example.com', publicKeys }, 'must be a URL'],
    [{ service: 'https://x.example/?a=1', publicKeys }, 'must be a URL'],
    [{ service, publicKeys: ['short'] }, '32 bytes in base64'],
    [{ service, publicKeys, version: 'latest' }, 'The version must be'],
  ])('is not built from invalid options: %j', (build, message) => {
    expect(() => buildPlugin(build)).toThrow(message)
  })
})
