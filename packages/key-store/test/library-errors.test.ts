import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const page = readFileSync(join(root, 'docs/library-errors.md'), 'utf8')

/** Names in the table of the key store, in the union of the master key, and in calls and classes of the KMS. */
function namesIn(directory: string): string[] {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const text = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .join('\n')
  const patterns = [
    /^ {2}([A-Z]\w+): \[\s*(?:undefined|'[a-z_]+'),/gm,
    /^ {2}\| '([A-Z]\w+)'$/gm,
    /^export class (\w+) extends \w*Error\b/gm,
    /(?:new KmsError|refused)\(\s*'(\w+)'/g,
    /__type: [^?]+\? '(\w+)'/g,
  ]
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name))
}

test('every error of the key store and of the KMS is described, and no other', () => {
  const thrown = ['key-store', 'kms'].flatMap((name) =>
    namesIn(join(root, 'packages', name, 'src')),
  )
  // The KMS checks signatures as the engine does, with the same names.
  const signatures = readFileSync(join(root, 'packages/platform/src/aws-signature.ts'), 'utf8')
  thrown.push(...[...signatures.matchAll(/'(\w+Exception)'/g)].map(([, name = '']) => name))
  expect(thrown.length).toBeGreaterThan(50)
  const described = [...page.matchAll(/^\| `(\w+)` +\| [^|]+ \| [^|]+ \|$/gm)].map(
    ([, name = '']) => name,
  )
  const expected = new Set(thrown.filter((name) => !['KmsError', 'KeyStoreError'].includes(name)))
  expect(described.toSorted()).toEqual([...expected].toSorted())
})
