// Whether the versions of a clone agree, with each other and with the changelog.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @typedef {{ name: string, version: string, dependencies?: Record<string, string>, devDependencies?: Record<string, string> }} Manifest */

/**
 * One sentence for each problem.
 * @param {string} clone
 * @param {{ isRelease: boolean }} options a release needs a section of its own in the changelog
 */
export function versionProblems(clone, { isRelease }) {
  const { version } = read(clone)
  const packages = readdirSync(join(clone, 'packages'))
    .map((name) => join(clone, 'packages', name))
    .filter((directory) => existsSync(join(directory, 'package.json')))
    .map(read)
  const versions = new Map(packages.map((each) => [each.name, each.version]))
  return [
    // Two-key was there before the others and has a version of its own.
    ...packages
      .filter((each) => each.version !== version && each.name !== '@strongroom/two-key')
      .map(
        (each) => `${each.name} has version ${each.version}, the clone ${version}: make them equal`,
      ),
    ...packages.flatMap((each) =>
      Object.entries({ ...each.dependencies, ...each.devDependencies })
        .filter(([name, wanted]) => versions.has(name) && versions.get(name) !== wanted)
        .map(
          ([name, wanted]) =>
            `${each.name} needs ${name} ${wanted}, which is ${versions.get(name)}`,
        ),
    ),
    ...changelogProblems(readFileSync(join(clone, 'CHANGELOG.md'), 'utf8'), {
      version,
      twoKey: versions.get('@strongroom/two-key') ?? version,
      isRelease,
    }),
  ]
}

/**
 * @param {string} changelog
 * @param {{ version: string, twoKey: string, isRelease: boolean }} expected
 */
function changelogProblems(changelog, { version, twoKey, isRelease }) {
  const [, section = ''] = /^## (\S+)/m.exec(changelog) ?? []
  const [head = ''] = changelog.split(/^## .*$/m)
  if (section === version) return []
  if (section !== 'Unreleased')
    return [
      `CHANGELOG.md starts with ${section || 'no section'}, the clone has version ${version}: add "## ${version}"`,
    ]
  if (isRelease)
    return [
      `CHANGELOG.md starts with "## Unreleased": name the section "## ${version}" to release it`,
    ]
  return [version, twoKey]
    .filter((each) => !head.includes(each))
    .map((each) => `CHANGELOG.md does not say that ${each} is the next version`)
}

/** @param {string} directory @returns {Manifest} */
function read(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}
