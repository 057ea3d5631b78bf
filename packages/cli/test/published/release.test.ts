import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packagesRequired, root, runNode, tarball } from '@strongroom/kit/testing/published'
import { describe, expect, test } from 'vitest'
import { versionProblems } from '../../../../scripts/packages/versions.mjs'
import { emptyDirectory } from '../strongroom.ts'

const CONTENTS: Readonly<Record<string, string[]>> = {
  // Of the command, the console, a worker thread, and what npm installs.
  strongroom: [
    'hono',
    'preact',
    'quickjs-emscripten-core',
    '@aws-sdk/client-kms',
    'lmdb',
    'msgpackr',
  ],
  '@strongroom/engine': ['lmdb', '@lmdb/lmdb-linux-x64'],
  '@strongroom/kms': ['zod'],
  '@strongroom/key-store': ['zod'],
  '@strongroom/two-key': ['lru-cache', 'zod'],
}
const PACKAGES = Object.keys(CONTENTS)

/** The parts of this clone that have versions, some of them replaced. */
async function cloneWith(changes: Record<string, (text: string) => string>): Promise<string> {
  const directory = await emptyDirectory()
  const packages = (await readdir(join(root, 'packages'))).map((name) => join('packages', name))
  for (const each of ['.', ...packages]) {
    await mkdir(join(directory, each), { recursive: true })
    await cp(join(root, each, 'package.json'), join(directory, each, 'package.json'))
  }
  await cp(join(root, 'CHANGELOG.md'), join(directory, 'CHANGELOG.md'))
  for (const [name, change] of Object.entries(changes)) {
    const file = join(directory, name)
    await writeFile(file, change(await readFile(file, 'utf8')))
  }
  return directory
}

describe('the check of versions before a release', () => {
  test('finds nothing in this clone', () => {
    expect(versionProblems(root, { isRelease: false })).toEqual([])
  })

  test('names a package with another version, and those that need it', async () => {
    const clone = await cloneWith({
      'packages/kms/package.json': (text) =>
        text.replace('"version": "0.1.0"', '"version": "0.1.1"'),
    })
    expect(versionProblems(clone, { isRelease: false })).toEqual([
      '@strongroom/kms has version 0.1.1, the clone 0.1.0: make them equal',
      expect.stringMatching(/^@strongroom\/cli needs @strongroom\/kms 0\.1\.0, which is 0\.1\.1$/),
      ...Array.from({ length: 3 }, () => expect.stringContaining('needs @strongroom/kms 0.1.0')),
    ])
  })

  test('requires a section of the changelog for what is published', async () => {
    expect(versionProblems(root, { isRelease: true })).toEqual([
      'CHANGELOG.md starts with "## Unreleased": name the section "## 0.1.0" to release it',
    ])
    const released = await cloneWith({
      'CHANGELOG.md': (text) => text.replace('## Unreleased', '## 0.1.0'),
    })
    expect(versionProblems(released, { isRelease: true })).toEqual([])
    const other = await cloneWith({
      'CHANGELOG.md': (text) => text.replace('## Unreleased', '## 0.2.0'),
    })
    expect(versionProblems(other, { isRelease: false })).toEqual([
      'CHANGELOG.md starts with 0.2.0, the clone has version 0.1.0: add "## 0.1.0"',
    ])
  })

  test('publishes nothing if it finds a problem', async () => {
    const args = [join(root, 'scripts/release.mjs'), '--publish']
    const { code, stdout, stderr } = await runNode(args, { cwd: root })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('CHANGELOG.md starts with "## Unreleased"')
  })
})

describe.runIf(packagesRequired)('a prepared release', () => {
  const directory = join(root, 'dist/npm')

  test('has the checksums of all its files', async () => {
    const lines = (await readFile(join(directory, 'SHA256SUMS'), 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(2 * PACKAGES.length)
    for (const line of lines) {
      const [sum, file = ''] = line.split('  ')
      const bytes = await readFile(join(directory, file))
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sum)
    }
  })

  test.each(PACKAGES)('lists what %s contains and what npm installs with it', async (name) => {
    const file = tarball(name).replace(/\.tgz$/, '.cdx.json')
    const sbom = JSON.parse(await readFile(file, 'utf8')) as {
      bomFormat: string
      metadata: { component: { 'bom-ref': string } }
      components: { 'bom-ref': string; hashes?: object[] }[]
    }
    expect(sbom.bomFormat).toBe('CycloneDX')
    expect(sbom.metadata.component['bom-ref']).toMatch(new RegExp(`^${name}@\\d`))
    const listed = sbom.components.map((component) => component['bom-ref'].replace(/@[^@]+$/, ''))
    expect(listed).toEqual(expect.arrayContaining(CONTENTS[name] ?? []))
    expect(listed).not.toContain('vitest')
  })
})
