/** The template of a stack, made as `cdk synth` makes it, with bundles whose bytes do not change. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { lambdaFunctions } from '@strongroom/lambda/functions'
import { readOptions } from '../../src/options.ts'
import { StrongroomStack } from '../../src/stack.ts'

export interface Resource {
  Type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- each type has other properties
  Properties: any
  DeletionPolicy?: string
  UpdateReplacePolicy?: string
}

export interface Template {
  Resources: Record<string, Resource>
  Outputs: Record<string, { Value: unknown }>
  Parameters: Record<string, unknown>
}

export const REQUIRED = { domain: 'strongroom.example.com', email: 'ops@example.com' }

export function synthesize(context: Record<string, unknown> = REQUIRED): Template {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-infra-'))
  try {
    const bundles = join(directory, 'bundles')
    mkdirSync(bundles)
    for (const { name } of lambdaFunctions) writeFileSync(join(bundles, `${name}.zip`), name)
    const app = new App({ outdir: join(directory, 'out'), analyticsReporting: false })
    const options = readOptions((name) => context[name])
    const stack = new StrongroomStack(app, `${options.prefix}strongroom`, options, bundles)
    const assembly = app.synth()
    // Lookups would need credentials.
    if (assembly.manifest.missing) throw new Error('The stack needs a lookup')
    return assembly.getStackArtifact(stack.artifactId).template as Template
  } finally {
    rmSync(directory, { recursive: true })
  }
}

export function resourcesOf(template: Template, type: string): [id: string, resource: Resource][] {
  return Object.entries(template.Resources).filter(([, { Type }]) => Type === type)
}
