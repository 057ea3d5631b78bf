/** `strongroom slack …`: the Slack apps of Two-key, their workspaces and decisions. */
import type { Command } from '../command.ts'
import {
  slackApps,
  slackAppAdd,
  slackAppChange,
  slackAppRemove,
  slackSecretRotate,
} from '../two-key/app-commands.ts'
import {
  slackTokens,
  slackTokenSet,
  slackTokenRemove,
  slackDecisions,
} from '../two-key/token-commands.ts'

export const commands: readonly Command[] = [
  slackApps,
  slackAppAdd,
  slackAppChange,
  slackAppRemove,
  slackSecretRotate,
  slackTokens,
  slackTokenSet,
  slackTokenRemove,
  slackDecisions,
]
