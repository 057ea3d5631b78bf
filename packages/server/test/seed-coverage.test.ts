import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readSeedCoverage } from '@strongroom/kit/testing/seed-coverage'
import { describe, expect, test } from 'vitest'

const packages = fileURLToPath(new URL('../../', import.meta.url))
const services = ['sealed', 'ferryhook', 'form-bridge', 'key-store', 'two-key']

/** The rows of one service's table: requirement, source file, test. */
const rowsOf = (service: string) =>
  readSeedCoverage(join(packages, service)).rows.map((row) => ({ service, ...row }))

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
      const { pending } = readSeedCoverage(join(packages, service))
      const open = pending.length === 0 ? '' : `\nNot reached yet:\n\n- ${pending.join('\n- ')}\n`
      return `## ${service}\n\n| What the seed says | Where | Test |\n| --- | --- | --- |\n${lines.join('')}${open}`
    })
    const page = `# Seed coverage

Each service has a specification of what it stores, its seed. Every entity, attribute table, index, access pattern, lifetime rule and validation rule of the five seeds is a row here, with the test that shows it. Written by \`npm run docs\` from \`packages/<service>/seed-coverage.md\`; a row whose test does not exist fails the tests.

A row counts only if the product reaches it. \`test/scenarios/seed-coverage.test.ts\` of each service uses it as people, programs and workers do, records which functions run and which items are stored, and fails for a row whose function never ran or whose item was never stored. Rows that nothing reaches yet are listed by name below their table.

${sections.join('\n')}`
    await expect(page).toMatchFileSnapshot('../../../docs/seed-coverage.md')
  })

  test.each(services)('has rows for %s', (service) => {
    expect(rowsOf(service).length).toBeGreaterThan(5)
  })

  test.each(services)('is compared with what the product of %s reaches', (service) => {
    const scenario = readFileSync(
      join(packages, service, 'test/scenarios/seed-coverage.test.ts'),
      'utf8',
    )
    expect(scenario).toContain('compareSeedCoverage(directory')
  })

  test.each(services)('lists only rows of %s as not reached yet', (service) => {
    const { rows: known, pending } = readSeedCoverage(join(packages, service))
    const names = known.map(({ what }) => what)
    expect(pending.filter((what) => !names.includes(what))).toEqual([])
  })

  test.each(rows)(
    '$service: $what is shown by a test that exists',
    ({ service, where, test: shown }) => {
      expect(where).not.toBe('')
      const [, file = '', title = ''] = /^`?([\w./-]+\.ts): (.+?)`?$/.exec(shown) ?? []
      // Tests of deployments are in other packages: `../../lambda/test/…`.
      expect(existsSync(join(packages, service, 'test', file)), file).toBe(true)
      expect(title).not.toBe('')
      expect(sourceOf(service, file).includes(title), `${file} has no test "${title}"`).toBe(true)
    },
  )
})
