import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const manual = read('../../../docs/key-store.md')

/** Each example of docs/key-store.md is a part of a test, which runs it. */
const EXAMPLES = {
  'branch-key': './example.test.ts',
  'encryption-sdk': './interop/example.test.ts',
}

describe('docs/key-store.md', () => {
  test.each(Object.entries(EXAMPLES))('shows the example %s as %s runs it', (name, file) => {
    const shown = new RegExp(`<!-- example: ${name} -->\n\n\`\`\`ts\n(.*?)\n\`\`\`\n`, 's')
    const run = new RegExp(`^( *)// example: ${name}\n(.*?)\n *// end$`, 'ms')
    const [, indent = '', lines = ''] = run.exec(read(file)) ?? []
    const isRun = lines.split('\n').map((line) => line.replace(indent, ''))
    expect(isRun.length).toBeGreaterThan(1)
    expect(shown.exec(manual)?.[1]?.split('\n')).toEqual(isRun)
  })

  test('has no example that no test runs', () => {
    const named = [...manual.matchAll(/<!-- example: (\S+) -->/g)].map(([, name]) => name)
    expect(named).toEqual(Object.keys(EXAMPLES))
  })
})
