import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const packages = fileURLToPath(new URL('../../', import.meta.url))
const services = ['sealed', 'ferryhook', 'form-bridge', 'key-store', 'two-key']

interface Row {
  service: string
  what: string
  where: string
  test: string
}

/** The rows of one service's table: requirement, source file, test. */
function rowsOf(service: string): Row[] {
  return readFileSync(join(packages, service, 'seed-coverage.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s|-]+$/.test(line))
    .slice(1)
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')))
    .map(([, what = '', where = '', shown = '']) => ({ service, what, where, test: shown }))
}

const rows = services.flatMap(rowsOf)
const sources = new Map<string, string>()

/** The source of a test file, with the escapes of its strings resolved. */
function sourceOf(service: string, file: string): string {
  const path = join(packages, service, 'test', file)
  const known = sources.get(path) ?? readFileSync(path, 'utf8').replaceAll("\\'", "'")
  sources.set(path, known)
  return known
}

describe('docs/seed-coverage.md', () => {
  test('is generated from the tables of the services', async () => {
    const sections = services.map((service) => {
      const lines = rowsOf(service).map(
        ({ what, where, test: shown }) =>
          `| ${[what, where, shown].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`,
      )
      return `## ${service}\n\n| What the seed says | Where | Test |\n| --- | --- | --- |\n${lines.join('')}`
    })
    const page = `# Seed coverage

Each service has a specification of what it stores, its seed. Every entity, attribute table, index, access pattern, lifetime rule and validation rule of the five seeds is a row here, with the test that shows it. Written by \`npm run docs\` from \`packages/<service>/seed-coverage.md\`; a row whose test does not exist fails the tests.

${sections.join('\n')}`
    await expect(page).toMatchFileSnapshot('../../../docs/seed-coverage.md')
  })

  test.each(services)('has rows for %s', (service) => {
    expect(rowsOf(service).length).toBeGreaterThan(5)
  })

  test.each(rows)(
    '$service: $what is shown by a test that exists',
    ({ service, where, test: shown }) => {
      expect(where).not.toBe('')
      const [, file = '', title = ''] = /^`?([\w./-]+\.test\.ts): (.+?)`?$/.exec(shown) ?? []
      const files = readdirSync(join(packages, service, 'test'), { recursive: true })
      expect(files).toContain(file)
      expect(title).not.toBe('')
      expect(sourceOf(service, file).includes(title), `${file} has no test "${title}"`).toBe(true)
    },
  )
})
