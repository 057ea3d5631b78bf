/** Every guarantee of docs/threat-model.md names a test that exists. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string) => readFileSync(root + path, 'utf8')

const [, section = ''] = read('docs/threat-model.md').split('## Guarantees and their tests\n')
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => {
    const [guarantee = '', tests = ''] = line.split(/(?<!\\)\|/).slice(1)
    return { guarantee: guarantee.trim(), tests: tests.trim() }
  })

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

/** A test file with titles after a colon, or a script of package.json. */
function referencesIn(tests: string) {
  return [
    ...tests.matchAll(/`(packages\/[^`]+|npm run [\w:]+)`(?:: ([^`]*?)(?=;? *(?:`|$)))?/g),
  ].map(([, name = '', titles = '']) => ({
    name,
    titles: titles.split(';').flatMap((title) => title.trim() || []),
  }))
}

describe('the threat model', () => {
  test('has guarantees', () => {
    expect(rows.length).toBeGreaterThan(40)
  })

  test.each(rows)('names tests that exist: $guarantee', ({ tests }) => {
    const references = referencesIn(tests)
    expect(references).not.toEqual([])
    for (const { name, titles } of references) {
      const script = name.replace(/^npm run /, '')
      const isThere = script === name ? existsSync(root + name) : script in scripts
      expect([name, isThere]).toEqual([name, true])
      const text = titles.length > 0 ? read(name) : ''
      expect(titles.filter((title) => !text.includes(title))).toEqual([])
    }
  })
})
