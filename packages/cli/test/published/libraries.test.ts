/** The libraries as users install them: README examples, types and package metadata. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  asTypeScript,
  compile,
  expectedOutput,
  installNode,
  installProject,
  packagesRequired,
  NEWEST_NODE,
  type Project,
  readmeExamples,
  root,
  runNode,
  sameVersion,
  tarball,
} from '@strongroom/kit/testing/published'
import { libraries } from '../../../../scripts/packages/descriptions.mjs'

const MAX_INSTALL_MS = 300_000

const all = libraries.map((library) => ({ ...library, name: `@strongroom/${library.directory}` }))
/** What the READMEs tell users to install as well. */
const companions = [
  '@aws-crypto/branch-keystore-node',
  '@aws-crypto/client-node',
  '@aws-crypto/material-management',
  '@aws-sdk/client-dynamodb',
  '@aws-sdk/client-kms',
  '@aws-sdk/lib-dynamodb',
  '@aws-sdk/util-dynamodb',
  '@types/node',
  'hono',
]

describe.runIf(packagesRequired)('the examples of the READMEs', () => {
  let project: Project
  let newest: { path: string; project: Project }

  beforeAll(async () => {
    project = await installProject([
      ...all.map(({ name }) => tarball(name)),
      ...companions.map(sameVersion),
    ])
    newest = await installNode(NEWEST_NODE)
  }, MAX_INSTALL_MS)

  afterAll(async () => {
    await project.remove()
    await newest.project.remove()
  })

  describe.each(all)('of $name', ({ directory }) => {
    test.each(['this Node', `Node ${NEWEST_NODE}`])(
      'run on %s and print what they say',
      async (version) => {
        const node = version === 'this Node' ? process.execPath : newest.path
        const examples = (await readmeExamples(directory)).filter(({ kind }) => kind === 'example')
        expect(examples.length).toBeGreaterThan(0)
        for (const example of examples) {
          const { file, text } = example
          expect(expectedOutput(example), file).not.toBe('')
          const finished = await project.run([file], { node, files: { [file]: text } })
          expect({ file, ...finished }).toEqual({
            file,
            code: 0,
            stdout: expectedOutput(example),
            stderr: '',
          })
        }
      },
    )

    test('compile strictly, with all declarations that they use', async () => {
      const examples = (await readmeExamples(directory)).filter(
        ({ kind, file }) => kind !== 'app' && !file.endsWith('.cjs'),
      )
      const files = examples.map(({ file, text }) => [asTypeScript(file), text])
      expect(await compile(project, Object.fromEntries(files))).toBe('')
    })
  })
})

describe.runIf(packagesRequired)('a library on its own', () => {
  test.each(all)(
    '$name installs, loads and compiles without its optional peers',
    async ({ name, commonJs, entries, peers }) => {
      const project = await installProject([tarball(name), sameVersion('@types/node')])
      try {
        // The entries that need a peer are those of which the README says so.
        const alone = Object.keys(entries).filter(
          (entry) => entry === '.' || Object.keys(peers).length === 0,
        )
        for (const entry of alone) {
          const path = join(name, entry).replaceAll('\\', '/')
          const list = `console.log(Object.keys(library).filter((key) => key !== 'default').toSorted().join())`
          const files: Record<string, string> = {
            'load.mjs': `import * as library from '${path}'\n${list}`,
            'load.cjs': `const library = require('${path}')\n${list}`,
          }
          const asModule = await project.run(['load.mjs'], { files })
          expect(asModule).toMatchObject({ code: 0, stderr: '' })
          expect(asModule.stdout).toMatch(/^\w+(,\w+)*\n$/)
          const other = commonJs ? await project.run(['load.cjs'], { files }) : asModule
          expect(other).toEqual(asModule)
          const typed: Record<string, string> = {
            'load.mts': `import * as library from '${path}'\nexport const names: string[] = Object.keys(library)`,
          }
          if (commonJs)
            typed['load.cts'] =
              `import library = require('${path}')\nexport const names: string[] = Object.keys(library)`
          expect(await compile(project, typed)).toBe('')
        }
        const internal = `import('${name}/src/library.ts').catch((error) => console.log(error.code))`
        const refused = await project.run(['load.mjs'], { files: { 'load.mjs': internal } })
        expect(refused.stdout).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED\n')
      } finally {
        await project.remove()
      }
    },
    MAX_INSTALL_MS,
  )
})

describe.runIf(packagesRequired)('the metadata of the packages', () => {
  const tool = (path: string) => join(root, 'node_modules', path)

  test.each(['strongroom', ...all.map(({ name }) => name)])(
    'publint finds nothing in %s',
    async (name) => {
      const args = [tool('publint/src/cli.js'), 'run', '--strict', tarball(name)]
      expect(await runNode(args, { cwd: root })).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('All good!'),
      })
    },
  )

  test.each(all)('every way to import $name finds the right types', async ({ name, commonJs }) => {
    const profile = commonJs ? 'node16' : 'esm-only'
    const args = [tool('@arethetypeswrong/cli/dist/index.js'), tarball(name)]
    const finished = await runNode(
      [...args, '--profile', profile, '--no-definitely-typed', '--format', 'ascii'],
      { cwd: root },
    )
    expect(finished).toMatchObject({ code: 0 })
  })
})
