/** The CDK app: one stack, for the account and region of the credentials that deploy it. */
import { fileURLToPath } from 'node:url'
import { App } from 'aws-cdk-lib'
import { InvalidOption, readOptions } from './options.ts'
import { StrongroomStack } from './stack.ts'

/** The bundle of this file is in dist/infra. */
const bundles = fileURLToPath(new URL('../lambda', import.meta.url))

const app = new App()
try {
  const options = readOptions((name) => app.node.tryGetContext(name))
  new StrongroomStack(app, `${options.prefix}strongroom`, options, bundles)
  app.synth()
} catch (error) {
  if (!(error instanceof InvalidOption)) throw error
  console.error(error.message)
  process.exitCode = 1
}
