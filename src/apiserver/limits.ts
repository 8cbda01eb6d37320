// Every bound of the generic apiserver in one place. Values are upstream's where upstream has one (k8s.io/apiserver).

/** Largest request body of any write (generic apiserver: 3 MiB). */
export const requestBodyBytesMax = 3 * 1024 * 1024;
/** JSON answers above this are compressed when the client asks for it. */
export const compressBytesMin = 128 * 1024;
/** LIST leaves in pieces of this size, waiting for the client between them. */
export const listChunkBytes = 256 * 1024;
/** The most characters of a request's path and query. */
export const targetLengthMax = 64 * 1024;
/** Places beyond --max-requests-inflight and --max-mutating-requests-inflight that only nodes and the control plane's own components may take, as a share of them. */
export const reservedSeatsShare = 0.25;
/** What a client that was refused by those is asked to wait. */
export const retryAfterSeconds = 1;
/** What a 429 says (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters). */
export const tooManyText = 'Too many requests, please try again later.';
/** What a client is asked to wait when the store does not answer (k8s.io/apiserver/pkg/storage/errors). */
export const unreachableRetrySeconds = 2;
/** Events are gathered this long before one write per watcher. */
export const watchCoalesceMs = 1;
/** Events are copied together up to this size. */
export const watchPieceBytesMax = 16 * 1024;
/** A watcher that is this far behind is dropped. */
export const watchBacklogBytesMax = 10 * 1024 * 1024;
export const watchBacklogEventsMax = 1_000;
/** Bookmarks: how often a watch that asked for them hears one, and how long before its end the last. */
export const bookmarkIntervalMs = 60_000;
export const bookmarkBeforeEndMs = 2_000;
/** Events remembered per resource for watches that resume: at most, at least, and for how long in between. */
export const ringEventsMax = 20_000;
export const ringEventsMin = 1_000;
export const ringAgeMs = 300_000;
/** What they may weigh together, in bytes of the stored objects; it comes before the least number. */
export const ringBytesMax = 64 * 1024 * 1024;
/** What those of all resources may weigh together, and after how many new bytes that is looked at. */
export const ringsBytesMax = 256 * 1024 * 1024;
export const ringsLookBytes = 1024 * 1024;
/** Stored bytes of the objects of the past that watches which resume had decoded and encoded again, and that stay so. */
export const remadeBytesMax = 16 * 1024 * 1024;
/** How long a read waits for a resource version that this server has not seen yet. */
export const freshnessWaitMs = 3_000;
/** How long the store may take to answer a health check (--etcd-healthcheck-timeout, --etcd-readycheck-timeout). */
export const healthCheckTimeoutMs = 2_000;
/** A start hook that fails is tried again after a growing pause, and gives up when it has failed for this long. */
export const startHookRetryMs = { first: 250, max: 5_000, giveUpAfter: 60_000, loopsHoldFor: 5_000 };
/** How long a server that closes waits for its address to be taken out of the endpoints of the Service `kubernetes`. */
export const leaveTimeoutMs = 2_000;
/** Refused requests that are remembered for explanations, and what is kept of the words of each. */
export const refusalsMax = 256;
export const refusalTextLengthMax = 1_024;
/** A custom resource definition that could not be served is looked at again after this time. */
export const definitionRetryMs = 1_000;
/** APIServices that could not be brought up to date are looked at again after this time. */
export const aggregationRetryMs = 1_000;
/** Writes that lose a race are tried again this often before giving up. */
export const updateAttemptsMax = 100;
/** Names made from generateName that may be taken. */
export const generateNameAttemptsMax = 8;
/** Labels of one resource that are indexed at a time, and from how many objects on. Each index holds a reference to every object that has the label. */
export const labelIndexesMax = 4;
export const labelIndexObjectsMin = 500;
/** Objects that an index may lead to: with more of them, all of the resource are looked at in turns. */
export const indexedCandidatesMax = 4_096;
/** Keys read from the store at once while loading. */
export const loadPageKeys = 5_000;
/** Subtrees remembered for sharing, and the size below which sharing costs more than it saves. */
export const sharedSubtreesMax = 20_000;
export const sharedSubtreeLengthMin = 40;
/** Larger subtrees, and those below what has more members, are not shared: to recognise them would cost more than it saves. */
export const sharedSubtreeLengthMax = 32 * 1024;
export const sharingMembersMax = 100;
/** What all remembered parts may weigh. */
export const sharedSubtreeBytesMax = 32 * 1024 * 1024;
/** Names of fields kept in quotes. */
export const quotedKeysMax = 2_000;
/** Objects deleted at once by deletecollection. */
export const deleteCollectionWorkers = 64;
/** Events written within this time share a lease, at most so many. */
export const leaseReuseSeconds = 60;
export const leaseObjectsMax = 1_000;
/** OpenAPI documents kept after being built. */
export const openApiDocumentsMax = 64;
/** Clients kept for other API servers and webhooks, one for each address and trust. */
export const remoteConnectionsMax = 256;
/** How long another API server may take to answer what it serves; --request-timeout bounds everything else. */
export const remoteDiscoveryTimeoutMs = 5_000;
/** What is read of another API server's answer to a component of this process. */
export const remoteDocumentBytesMax = 32 * 1024 * 1024;
/** What is read of another API server's discovery documents. */
export const remoteDiscoveryBytesMax = 2 * 1024 * 1024;
/** What is read of another API server's OpenAPI documents, in bytes and in values (as `jsonValuesMax` counts them): twice what this server's own have. */
export const remoteOpenApiBytesMax = 8 * 1024 * 1024;
export const remoteOpenApiValuesMax = 600_000;
/** How many requests decide whether another API server can be used: one that succeeds is enough. */
export const remoteProbes = 5;
/** How long after one look at an API server the next one comes, and after a failure (controllers/status/remote: 5 ms to 30 s). */
export const remoteAvailabilityMs = { again: 30_000, retry: 5, retryMax: 30_000 };
/** Between readings of what an API server serves, and after failures. */
export const remoteDiscoveryMs = { again: 60_000, retry: 500, retryMax: 60_000 };
/** Between readings of an API server's OpenAPI, and after failures (upstream's next try is a minute later, but every change asks again). */
export const remoteOpenApiMs = { again: 60_000, retry: 1_000, retryMax: 3_600_000 };
/** How long a conversion webhook may take. */
export const conversionTimeoutSeconds = 30;
/** Objects of one request to a conversion webhook, and how long their texts may be together; longer lists take several. */
export const conversionObjectsMax = 500;
export const conversionCharsMax = 512 * 1024;
/** What is read of a conversion webhook's answer. */
export const conversionAnswerBytesMax = 8 * 1024 * 1024;
/** Conversions remembered for the owners of fields, and how many one write may need. */
export const conversionMemoMax = 256;
export const conversionRoundsMax = 32;
/** metrics.k8s.io: how long a kubelet may take to say what its pods use, how much it may say, and how long that counts as new. */
export const kubeletStatsTimeoutMs = 10_000;
export const kubeletStatsBytesMax = 8 * 1024 * 1024;
export const kubeletStatsFreshMs = 5_000;
/** /debug/decisions: how long a component or another apiserver may take, how much it may say, and how many apiservers are asked. */
export const decisionTimeoutMs = 5_000;
export const decisionBytesMax = 4 * 1024 * 1024;
export const decisionPeersMax = 8;
/** The most kubelets that are asked for metrics at the same time. */
export const kubeletsAskedAtOnceMax = 64;
/** A configuration file that could not be reloaded is tried again after this time. */
export const reloadRetryMs = 5_000;
/** How long all warnings of an answer may be together; where they are longer, each of them is cut. */
export const warningCharsMax = 4 * 1024;
export const cutWarningCharsMax = 256;
/** How long a client may take nothing of a list that is sent in pieces. */
export const answerStallMs = 30_000;
/** Answers of a process that may wait for their clients without a seat among the requests in flight. */
export const waitingAnswersMax = 1_000;
/** How often the objects of API priority and fairness are compared with what they have to be. */
export const flowControlCheckMs = 60_000;
/** A claimed cluster IP is let go when no Service has had it for so long: as long as a request that claims one may take (upstream's repair loop). */
export const ipClaimGraceMs = 60_000;
/** When the claim of a cluster IP is gone although its Service still has the address, it is claimed again after this time. */
export const ipClaimRestoreMs = 1_000;
/** Claims of node ports are compared with Services at most this often, and one that nobody stands behind goes after so many times (upstream's repair loop). */
export const portRepairIntervalMs = 180_000;
export const portRepairsBeforeRelease = 3;
