//! Which decisions were met while programs ran, counted: what a run of tests has seen, and what it has not.
//!
//! A decision is a row of the table at the end of this file. Whoever decides counts the row ([`Coverage::met`]); `verdicts.rs` says
//! which row a verdict of an analysis is. Counters of several sessions are added, and written as lines `name count`.
//!
//! Invariants: counting changes nothing of what is done. A counter is a plain number of one session, and counts decisions, runs
//! of operators and places, never elements.

mod verdicts;

use std::cell::Cell;
use std::fmt;
use std::str::FromStr;

macro_rules! rows {
    ($($variant:ident $name:literal: $meaning:literal;)*) => {
        /// A decision, and what came of it.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Met {
            $(#[doc = $meaning] $variant,)*
        }

        impl Met {
            /// Every row, in the order of the table.
            pub const ALL: &[Met] = &[$(Met::$variant,)*];

            /// Its name: the subject, a dot, and what came of it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Met::$variant => $name,)*
                }
            }

            /// What it is, in one line.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Met::$variant => $meaning,)*
                }
            }
        }
    };
}

/// How often each decision was met.
#[derive(Clone)]
pub struct Coverage {
    counts: [Cell<u64>; Met::ALL.len()],
}

impl Default for Coverage {
    fn default() -> Coverage {
        Coverage { counts: std::array::from_fn(|_| Cell::new(0)) }
    }
}

impl Coverage {
    /// A decision was met.
    #[inline]
    pub fn met(&self, row: Met) {
        self.add(row, 1);
    }

    /// A decision was met so often.
    #[inline]
    pub fn add(&self, row: Met, times: u64) {
        let count = &self.counts[row as usize];
        count.set(count.get().saturating_add(times));
    }

    /// How often a decision was met.
    pub fn of(&self, row: Met) -> u64 {
        self.counts[row as usize].get()
    }

    /// Adds what was counted elsewhere.
    pub fn add_all(&self, other: &Coverage) {
        Met::ALL.iter().for_each(|row| self.add(*row, other.of(*row)));
    }
}

/// A line `name count` for each row, in the order of the table.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Met::ALL.iter().try_for_each(|row| writeln!(f, "{} {}", row.name(), self.of(*row)))
    }
}

impl FromStr for Coverage {
    type Err = String;

    /// Reads what `Display` writes. Rows may be missing.
    fn from_str(text: &str) -> Result<Coverage, String> {
        let coverage = Coverage::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let row = |name: &str| Met::ALL.iter().find(|row| row.name() == name);
            let read = line.split_once(' ').and_then(|(name, count)| Some((row(name)?, count.parse().ok()?)));
            let (row, count) = read.ok_or_else(|| format!("`{line}` is no row of the table"))?;
            coverage.add(*row, count);
        }
        Ok(coverage)
    }
}

rows! {
    PointNoOp "point.no-op": "a statement that copies has nothing left to copy";
    PointCopies "point.copies": "a statement that copies still does";
    PointRowNoOp "point.row-no-op": "the rows of a kernel are made in their places";
    PointTurns "point.turns": "a loop's value is still read where the next one is made: two blocks take turns";
    PointHoisted "point.hoisted": "the target has to be made before the array that goes into it";
    PointCopiedFirst "point.copied-first": "an operand could be built in the copy of a shared block, if that came first";
    WebMoved "web.moved": "an array is built in the place that it would be copied to";
    WebNotLastUse "web.not-last-use": "it, or what it goes into, is used afterwards";
    WebNotUnique "web.not-unique": "somebody else holds the block";
    WebNotInScope "web.not-in-scope": "the block does not exist where the array is made, or the array is not made here";
    WebSizeVariant "web.size-variant": "its size changes from round to round";
    WebNotInvertible "web.not-invertible": "the array is more than what a view shows of it";
    WebNotAvailable "web.not-available": "the place depends on what is not known where the array is made";
    WebOverlap "web.overlap": "a place is used between being written and being copied";
    WebOverlapLater "web.overlap-later": "the same by another iteration";
    WebUseUnknown "web.use-unknown": "the block is used at a place that is not known";
    WebTwoSources "web.two-sources": "both sides of a branch exist before it";
    WebLiveRange "web.live-range": "the array is still needed while this one is made";
    WebLoopInput "web.loop-input": "a loop's value is still read where the next one is made";
    WebOtherShape "web.other-shape": "the array has other extents than its place: the program ends there";
    WebNotInjective "web.not-injective": "two indices of the place are one";
    WebBudget "web.budget": "the question takes too long to answer";
    WebLayout "web.layout": "the array lies as its readers want it";
    WebPrice "web.price": "access there costs more than the copy";

    PlanApplied "plan.applied": "a region runs with a plan";
    PlanThorough "plan.thorough": "an analysis that a limit cut short was done again with more effort";
    PlanDropped "plan.dropped": "plans were given up to make room";
    PlanHelped "plan.helped": "somebody asked for a place of a plan while it was applied";
    PlanSwitchedOff "plan.switched-off": "no plan: it is switched off";
    PlanAround "plan.around": "no plan: what is around has one";
    PlanSmall "plan.small": "no plan: too few elements";
    PlanWaiting "plan.waiting": "no plan: plans cost more than they give here";
    PlanUnrecorded "plan.unrecorded": "no plan: the region cannot be recorded";
    PlanRounds "plan.rounds": "no plan: each round of the loops is asked by itself";
    PlanNothing "plan.nothing": "no plan: nothing to be made elsewhere";
    PlanRefused "plan.refused": "no plan: the checker refused it";
    PlanIdle "plan.idle": "no plan: nothing ever asked for its places";
    PlanKnown "plan.known": "no plan: these numbers are known to have none";
    CheckProved "check.proved": "the checker proved decisions";
    CheckTooLarge "check.too-large": "the checker could not tell";
    CheckSkipped "check.skipped": "the checker was not asked: decisions here tend to be too large for it";
    CheckRefused "check.refused": "the checker refused decisions";

    HomeRegion "home.region": "a place in the region's block was offered";
    HomeTurn "home.turn": "one of two blocks in turn was offered";
    HomeEarly "home.early": "a home was offered to a block that something is made in before its own instruction";
    HomeTaken "home.taken": "a block was made in its home";
    HomeNone "home.none": "no block could be set aside for a home";

    PlaceMoved "place.moved": "a result was given a place in the block that it would be copied to";
    PlaceOwn "place.own": "a result was given its block, in which others were made before";
    PlaceNone "place.none": "the plan has a place for a result, and it could not be given";
    PlaceNew "place.new": "the first array of a block came, and the block was made for it";
    PlaceRowAround "place.row-around": "a place in the row of an operator around";
    PlaceTarget "place.target": "a row of a result was made in its place by one operator";
    PlaceUpdate "place.update": "an update stayed in a block that the plan knows all holders of";
    PlaceStray "place.stray": "registers of a region with a plan got their values before their turn";

    OverCandidate "over.candidate": "a result may be written over an array";
    OverNoCopies "over.no-copies": "not over an array: nothing of it is copied";
    OverConflict "over.conflict": "not over an array: an iteration reads what another one changes";
    OverDataIndex "over.data-index": "not over an array: it is read at places that are not known";
    OverBudget "over.budget": "not over an array: the places are too intricate";
    OverKnownYes "over.known-yes": "the same numbers were answered before: it may";
    OverKnownNo "over.known-no": "the same numbers were answered before: it may not";
    OverLittleWork "over.little-work": "nobody asked: too little work";
    OverNothingDies "over.nothing-dies": "nobody asked: no array dies there that nobody else holds";
    OverWaiting "over.waiting": "nobody asked: the answer was no too often";
    OverNoKernel "over.no-kernel": "nobody asked: the map is no kernel";
    OverSwitchedOff "over.switched-off": "nobody asked: it is switched off";
    OverGiven "over.given": "a map was given the place of a dying array";
    ChangesRows "changes.rows": "only the rows of a vector that change are gone over";
    ChangesColumns "changes.columns": "only the part of a matrix that changes is gone over";
    ChangesSeveral "changes.several": "what changes is several parts";
    ChangesShifted "changes.shifted": "the part that changes moves from row to row";
    ChangesCompiled "changes.compiled": "compiled code went over the part that changes";

    RelaidMade "relaid.made": "an operator was given a copy in another layout";
    RelaidKept "relaid.kept": "an operator was given a copy that was there";
    RelaidClass "relaid.class": "no copy: the lanes read neighbours already";
    RelaidFit "relaid.fit": "no copy: the array stays in the cache";
    RelaidUses "relaid.uses": "no copy: less would be read than copied";
    RelaidCap "relaid.cap": "no copy: the reads take no longer than the copy";
    RelaidAccumulator "relaid.accumulator": "no copy: another value in each round";
    RelaidMemory "relaid.memory": "no copy: there is no room for it";
    RelaidCost "relaid.cost": "no copy: it costs more than it saves";
    RelaidMeasured "relaid.measured": "no copy: measured not to help, or being measured";
    RelaidLane "relaid.lane": "no copy: the lane that it needs costs more";
    RelaidLittle "relaid.little": "no copy: little is saved beside all that is done";
    AdviceMade "advice.made": "layouts were chosen for a region as a whole";
    AdviceNone "advice.none": "nothing to choose for a region as a whole";
    AdviceUsed "advice.used": "a region runs with such advice";
    AdviceBirth "advice.birth": "a result was made in the layout that its readers like";

    FusionGroup "fusion.group": "operators that run together were found";
    FusionAlone "fusion.alone": "an operator stays alone";
    FusionComputed "fusion.computed": "an operator is computed where others read it";
    FusionJoined "fusion.joined": "an operator runs together with another one";
    FusionFed "fusion.fed": "prefixes are read as they are computed";
    FusionKept "fusion.kept": "an operator of a group stays as it is";
    FusionTurned "fusion.turned": "the first axes of an operator of a group go inside the others";
    FusionRan "fusion.ran": "a group ran";
    FusionUnmade "fusion.unmade": "an array of a group was never made";
    FusionDear "fusion.dear": "a group did not run: for these sizes it would be more work";
    FusionUnfit "fusion.unfit": "a group did not run: sizes or arrays are not as it wants them";
    FusionFailed "fusion.failed": "a group did not run: one of its kernels did not";

    RunStrands "run.strands": "a reduction in strands";
    RunUnit "run.unit": "a loop or operator as flat code";
    RunUnitLeft "run.unit-left": "flat code left its loop or operator to others";
    RunBlocks "run.blocks": "an operator row by row";
    RunPieces "run.pieces": "an operator piece by piece into its place";
    RunLoop "run.loop": "a loop round by round";
    RunLoopCode "run.loop-code": "a loop of scalars and elements by code";
    RunLoopBlocks "run.loop-blocks": "a loop around operators by code, in blocks of rounds";
    RunLoopWhole "run.loop-whole": "a loop around operators by code, as it stands";
    RunReference "run.reference": "a launch by the reference evaluator";
    RunVector "run.vector": "a launch a group of rows at a time";
    RunQuick "run.quick": "a launch of code that was made at once";
    RunX86Scalar "run.x86-scalar": "a launch of machine code without vectors";
    RunX86Avx2 "run.x86-avx2": "a launch of machine code with vectors of 256 bits";
    RunX86Avx512 "run.x86-avx512": "a launch of machine code with vectors of 512 bits";
    RunVulkan "run.vulkan": "a launch through Vulkan";
    RunOther "run.other": "a launch by another back end";
    RunUnlifted "run.unlifted": "no launch: the operator is no kernel";
    RunUnfit "run.unfit": "no launch: sizes or arrays are not as the kernel wants them";
    RunRowByRow "run.row-by-row": "no launch: few long rows, whose operators are executed one after the other";
    RunTooLarge "run.too-large": "no launch: the sizes are too large for the code";
    RunRefused "run.refused": "no launch: no back end takes the kernel";
    RunTrapped "run.trapped": "a launch trapped";
    RunFalseTrap "run.false-trap": "a launch trapped where the interpreter does not";
    RunPlaced "run.placed": "a launch into a place that was given";
    PlannedThreads "planned.threads": "code for an axis that is cut for threads";
    PlannedLane "planned.lane": "code whose lanes go across an axis";
    PlannedSingly "planned.singly": "code whose iterations run one by one, since lanes would change arrays of their own";
    PlannedGroups "planned.groups": "code that computes several vectors together";
    PlannedTile "planned.tile": "code that computes several rows together";
    PlannedInside "planned.inside": "code that has a part of its own away from borders";
    PlannedStretch "planned.stretch": "code of a reduction in stretches, whose results wait in between";
    PlannedPack "planned.pack": "code that copies an operand to where it lies in order";
    PlannedStream "planned.stream": "code whose results go past the caches";
    PlannedAhead "planned.ahead": "code that fetches what the next turn reads, or where it writes";
    PlannedUnchecked "planned.unchecked": "code with reads that are proven to stay inside";
    PlannedContained "planned.contained": "code with updates that are proven to stay inside";
    PlannedFresh "planned.fresh": "code whose results get blocks of their own";
    CodeMade "code.made": "a back end made code";
    CodeShared "code.shared": "code was found that a back end had made for another site or session";
    LaunchThreads "launch.threads": "the launch was cut for several threads";
    LaunchLane "launch.lane": "an axis of the launch runs across lanes";
    LaunchSingly "launch.singly": "iterations of the launch run one by one, since lanes would change arrays of their own";
    LaunchUnchecked "launch.unchecked": "reads of the launch are not checked";
    LaunchGeneric "launch.generic": "the launch was of the version for all strides";
    VersionGivenUp "version.given-up": "a version was given up for another one";

    ShadowCompared "shadow.compared": "elements and scalars that the checking execution compared";
    ShadowTakenOver "shadow.taken-over": "instructions that the checking execution could not tell";
    ShadowGivenUp "shadow.given-up": "calls that were too long for the checking execution";

    EndFinished "end.finished": "a call came to its end";
    EndProgram "end.program": "a call ended: the program did something undefined";
    EndUsage "end.usage": "a call ended: the arguments do not fit";
    EndMemory "end.memory": "a call ended: no memory";
    EndFuel "end.fuel": "a call ended: no fuel";
    EndDepth "end.depth": "a call ended: calls nested too deeply";
    EndStopped "end.stopped": "a call ended: it was interrupted, or its time was over";
    EndInput "end.input": "a call ended: a file of an argument became shorter, or a device was lost";
    EndDefect "end.defect": "a call ended: the checking execution found a mistake";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn rows_have_names_of_their_own() {
        let names: HashSet<&str> = Met::ALL.iter().map(|row| row.name()).collect();
        assert_eq!(names.len(), Met::ALL.len());
        assert!(names.iter().all(|name| name.contains('.') && !name.contains(' ')));
        assert!(Met::ALL.iter().enumerate().all(|(k, row)| *row as usize == k));
    }

    #[test]
    fn what_is_written_can_be_read_and_added() {
        let coverage = Coverage::default();
        coverage.met(Met::WebMoved);
        coverage.add(Met::EndFinished, 7);
        let again: Coverage = coverage.to_string().parse().unwrap();
        again.add_all(&coverage);
        assert_eq!((again.of(Met::WebMoved), again.of(Met::EndFinished)), (2, 14));
        assert_eq!(again.of(Met::EndDefect), 0);
        assert!("web.moved".parse::<Coverage>().is_err());
        assert!("no.row 3".parse::<Coverage>().is_err());
    }
}
