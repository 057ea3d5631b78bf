/**
 * The plugin's own tests, which need PHP but no WordPress. With REQUIRE_PHP=1 (set in CI) missing PHP
 * is a failure.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
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
