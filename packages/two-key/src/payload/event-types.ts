/**
 * Every event type of Slack's Events API, and what can be verified for it.
 *
 * The team is verified for every type. Users and channels are read from the usual places of any event
 * (`event-ids.ts`), because a handler may read them there whatever the type is; a rule adds places and
 * says where Slack cannot confirm what an event names. A type that is not listed gets
 * `UNKNOWN_EVENT`: whatever ids it has in the usual places must exist, and the bot must see the channel.
 */
import type { ReadName } from './names.ts'

export interface EventRule {
  /**
   * The conversation that it names: `joined`, which the bot can see, as it is in it or it is public;
   * `any`, also one that the bot is not in; `removed`, which may no longer exist or is no longer the
   * bot's; `none`. Of `any` and `removed`, an invisible channel is accepted as unseen.
   */
  channel: 'joined' | 'any' | 'removed' | 'none'
  /**
   * The person that it names: `actor`, who must exist; `described`, who must exist unless the event
   * says that the user was deleted; `guest`, possibly a person of a workspace that is not connected yet,
   * whom Slack confirms only for the own team; `none`.
   */
  user: 'actor' | 'described' | 'guest' | 'none'
  /** Where the user's id is, besides the usual places. */
  userAt?: ReadName
  /** Where the guest is: a path to an object with `id` and `team_id`. */
  guestAt?: readonly ReadName[]
  /** Where the channel's id is, besides the usual places. */
  channelAt?: ReadName
}

const rule = (
  channel: EventRule['channel'],
  user: EventRule['user'],
  at: Pick<EventRule, 'userAt' | 'guestAt' | 'channelAt'> = {},
): EventRule => ({ channel, user, ...at })

/** The default of types that Slack adds later. */
export const UNKNOWN_EVENT: EventRule = rule('joined', 'actor')

const TEAM_ONLY = rule('none', 'none')
const ACTOR_ONLY = rule('none', 'actor')
const DESCRIBED_USER = rule('none', 'described')
const IN_CHANNEL = rule('joined', 'actor')
const CHANNEL_ONLY = rule('joined', 'none')
const ANYWHERE = rule('any', 'actor')
const REMOVED_CHANNEL = rule('removed', 'actor')
/** The bot was removed by `actor_id`. */
const REMOVED_BY = rule('removed', 'actor', { userAt: 'actor_id' })

export const EVENT_TYPES: Readonly<Record<string, EventRule>> = {
  agent_session_stopped: IN_CHANNEL,
  agent_session_title_changed: IN_CHANNEL,
  app_context_changed: IN_CHANNEL,
  app_deleted: TEAM_ONLY,
  app_home_opened: IN_CHANNEL,
  app_installed: ACTOR_ONLY,
  app_mention: IN_CHANNEL,
  app_requested: ACTOR_ONLY,
  // Reports an uninstall: the tokens must be revoked.
  app_uninstalled: TEAM_ONLY,
  app_uninstalled_team: ACTOR_ONLY,
  assistant_thread_context_changed: IN_CHANNEL,
  assistant_thread_started: IN_CHANNEL,
  // A call can be in any conversation.
  call_rejected: ANYWHERE,
  channel_archive: IN_CHANNEL,
  channel_created: IN_CHANNEL,
  channel_deleted: REMOVED_CHANNEL,
  channel_history_changed: CHANNEL_ONLY,
  // The old id no longer exists, and a converted channel may be private now.
  channel_id_changed: rule('any', 'none', { channelAt: 'new_channel_id' }),
  channel_left: REMOVED_BY,
  channel_rename: CHANNEL_ONLY,
  channel_shared: CHANNEL_ONLY,
  channel_unarchive: IN_CHANNEL,
  channel_unshared: rule('removed', 'none'),
  dnd_updated: ACTOR_ONLY,
  dnd_updated_user: ACTOR_ONLY,
  email_domain_changed: TEAM_ONLY,
  emoji_changed: TEAM_ONLY,
  // People open the details of a link wherever it was posted.
  entity_details_requested: ANYWHERE,
  file_change: ACTOR_ONLY,
  file_comment_deleted: ACTOR_ONLY,
  file_created: ACTOR_ONLY,
  file_deleted: ACTOR_ONLY,
  file_public: ACTOR_ONLY,
  file_shared: IN_CHANNEL,
  file_unshared: rule('removed', 'actor'),
  // Its inputs are the app's own; ids in them are not verified.
  function_executed: TEAM_ONLY,
  grid_migration_finished: TEAM_ONLY,
  grid_migration_started: TEAM_ONLY,
  group_archive: IN_CHANNEL,
  group_close: REMOVED_CHANNEL,
  group_deleted: REMOVED_BY,
  group_history_changed: CHANNEL_ONLY,
  group_left: REMOVED_BY,
  group_open: IN_CHANNEL,
  group_rename: CHANNEL_ONLY,
  group_unarchive: rule('joined', 'actor', { userAt: 'actor_id' }),
  im_close: REMOVED_CHANNEL,
  im_created: IN_CHANNEL,
  im_history_changed: CHANNEL_ONLY,
  im_open: IN_CHANNEL,
  invite_requested: TEAM_ONLY,
  // Links unfurl in conversations that the bot has not joined, and in drafts.
  link_shared: ANYWHERE,
  member_joined_channel: IN_CHANNEL,
  member_left_channel: REMOVED_CHANNEL,
  message: IN_CHANNEL,
  message_metadata_deleted: IN_CHANNEL,
  message_metadata_posted: IN_CHANNEL,
  message_metadata_updated: IN_CHANNEL,
  pin_added: IN_CHANNEL,
  pin_removed: IN_CHANNEL,
  reaction_added: IN_CHANNEL,
  reaction_removed: IN_CHANNEL,
  // The bot is in the channel only after the invitation, and the other side is not connected before.
  shared_channel_invite_accepted: rule('any', 'guest', { guestAt: ['accepting_user'] }),
  shared_channel_invite_approved: rule('any', 'guest', { guestAt: ['approving_user'] }),
  shared_channel_invite_declined: rule('any', 'guest', { guestAt: ['declining_user'] }),
  shared_channel_invite_received: rule('any', 'guest', { guestAt: ['invite', 'inviting_user'] }),
  shared_channel_invite_requested: rule('any', 'guest', { guestAt: ['actor'] }),
  // People star what they see, in any conversation.
  star_added: ANYWHERE,
  star_removed: ANYWHERE,
  subteam_created: TEAM_ONLY,
  subteam_members_changed: TEAM_ONLY,
  subteam_self_added: TEAM_ONLY,
  subteam_self_removed: TEAM_ONLY,
  subteam_updated: TEAM_ONLY,
  team_access_granted: TEAM_ONLY,
  team_access_revoked: TEAM_ONLY,
  team_domain_change: TEAM_ONLY,
  team_join: DESCRIBED_USER,
  team_rename: TEAM_ONLY,
  // With a bot token it reports an uninstall.
  tokens_revoked: TEAM_ONLY,
  user_change: DESCRIBED_USER,
  user_huddle_changed: DESCRIBED_USER,
  user_profile_changed: DESCRIBED_USER,
  user_status_changed: DESCRIBED_USER,
  workflow_deleted: TEAM_ONLY,
  workflow_published: TEAM_ONLY,
  workflow_step_deleted: TEAM_ONLY,
  workflow_step_execute: TEAM_ONLY,
  workflow_unpublished: TEAM_ONLY,
}

export function eventRuleOf(type: string): EventRule {
  return (Object.hasOwn(EVENT_TYPES, type) ? EVENT_TYPES[type] : undefined) ?? UNKNOWN_EVENT
}

/** An unseen channel is accepted. */
export function mayBeUnseen({ channel }: EventRule): boolean {
  return channel === 'any' || channel === 'removed'
}
