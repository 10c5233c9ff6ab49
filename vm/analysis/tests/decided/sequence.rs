//! The choice over a sequence of kernels against every sequence of choices.

use galopvm_analysis::Effort;
use galopvm_analysis::strategy::{Access, Kernel, Lane, Problem, Write, solve, steady};
use galopvm_testkit::Random;

fn times(random: &mut Random, layouts: usize) -> Vec<u64> {
    (0..layouts).map(|_| random.below(40) as u64).collect()
}

fn problem(random: &mut Random) -> Problem {
    let arrays = 1 + random.below(2);
    let layouts = 1 + random.below(3);
    let mut problem = Problem {
        initial: (0..arrays).map(|_| (random.below(4) > 0).then_some(0)).collect(),
        copy: (0..arrays).map(|_| times(random, layouts)).collect(),
        kernels: Vec::new(),
    };
    let mut there: Vec<bool> = problem.initial.iter().map(Option::is_some).collect();
    for _ in 0..1 + random.below(4) {
        let mut kernel = Kernel { runs: 1 + random.below(2) as u64, ..Kernel::default() };
        let mut made = there.clone();
        let reads: Vec<usize> =
            (0..random.below(3)).map(|_| random.below(arrays)).filter(|array| there[*array]).collect();
        let write = (random.below(2) == 0).then(|| (random.below(arrays), random.below(2) == 0));
        for _ in 0..1 + random.below(2) {
            let mut lane = Lane::default();
            for array in &reads {
                lane.reads.push(Access { array: *array, time: times(random, layouts) });
            }
            if let Some((array, fresh)) = write {
                let fresh = fresh || !there[array];
                made[array] = true;
                lane.writes.push(Write { array, time: times(random, layouts), fresh });
            }
            kernel.lanes.push(lane);
        }
        let gone = random.below(arrays);
        if random.below(5) == 0 && made[gone] {
            kernel.dead.push(gone);
            made[gone] = false;
        }
        there = made;
        problem.kernels.push(kernel);
    }
    problem
}

/// The least cost from a kernel on, by trying everything.
fn everything(problem: &Problem, number: usize, held: &[Vec<usize>]) -> u64 {
    let Some(kernel) = problem.kernels.get(number) else { return 0 };
    let layouts = problem.copy[0].len();
    let mut best = u64::MAX;
    for lane in &kernel.lanes {
        let choices = lane.reads.len() + lane.writes.len();
        for code in 0..layouts.pow(choices as u32) {
            let choice = |k: usize| code / layouts.pow(k as u32) % layouts;
            let (before, mut held) = (held, held.to_vec());
            let (mut cost, mut possible) = (0, true);
            for (k, access) in lane.reads.iter().enumerate() {
                // A copy is made for a read that gains by it, never for an update alone.
                let best = before[access.array].iter().map(|layout| access.time[*layout]).min();
                let held_before = before[access.array].contains(&choice(k));
                possible &= held_before || best.is_none_or(|best| access.time[choice(k)] < best);
                if !held[access.array].contains(&choice(k)) {
                    cost += problem.copy[access.array][choice(k)];
                    held[access.array].push(choice(k));
                }
                cost += access.time[choice(k)] * kernel.runs;
            }
            for (k, write) in lane.writes.iter().enumerate() {
                let layout = choice(lane.reads.len() + k);
                possible &= write.fresh || before[write.array].contains(&layout);
                cost += write.time[layout] * kernel.runs;
                held[write.array] = vec![layout];
            }
            if !possible {
                continue;
            }
            for array in &kernel.dead {
                held[*array].clear();
            }
            best = best.min(cost + everything(problem, number + 1, &held));
        }
    }
    best
}

#[test]
fn the_choice_is_the_cheapest() {
    let mut random = Random::new(3);
    let mut costs = 0;
    for round in 0..3000 {
        let problem = problem(&mut random);
        let start: Vec<Vec<usize>> =
            problem.initial.iter().map(|layout| layout.iter().copied().collect()).collect();
        let solution = solve(&problem, Effort::Quick);
        assert!(!solution.bounded);
        assert_eq!(solution.total, everything(&problem, 0, &start), "round {round}: {problem:#?}");
        assert!(solution.at_least <= solution.total, "round {round}");
        costs += solution.total;
    }
    assert!(costs > 0);
}

#[test]
fn too_many_states_are_said_to_be() {
    let mut random = Random::new(5);
    let arrays = 14;
    let reads =
        |random: &mut Random| (0..arrays).map(|array| Access { array, time: times(random, 3) }).collect();
    let lane = |random: &mut Random| Lane { reads: reads(random), ..Lane::default() };
    let problem = Problem {
        initial: vec![Some(0); arrays],
        copy: vec![vec![10; 3]; arrays],
        kernels: (0..3)
            .map(|_| Kernel { lanes: vec![lane(&mut random)], dead: Vec::new(), runs: 1 })
            .collect(),
    };
    let solution = solve(&problem, Effort::Quick);
    assert!(solution.bounded && solution.at_least <= solution.total);
    let as_it_is: u64 = problem.kernels.iter().flat_map(|k| &k.lanes[0].reads).map(|read| read.time[0]).sum();
    assert!(solution.total <= as_it_is, "{} {as_it_is}", solution.total);
    assert!(solution.text().contains("BOUNDED"));
}

#[test]
fn rounds_settle_where_repeating_is_cheapest() {
    // Read well in layout 1, updated better in layout 0: once copied, layout 1 is kept.
    let kernels = vec![
        Kernel {
            lanes: vec![Lane { reads: vec![Access { array: 0, time: vec![10, 0] }], ..Lane::default() }],
            dead: Vec::new(),
            runs: 1,
        },
        Kernel {
            lanes: vec![Lane {
                writes: vec![Write { array: 0, time: vec![0, 5], fresh: false }],
                ..Lane::default()
            }],
            dead: Vec::new(),
            runs: 1,
        },
    ];
    let mut problem = Problem { initial: vec![Some(0)], copy: vec![vec![100, 100]], kernels };
    assert_eq!(solve(&problem, Effort::Quick).total, 10);
    let cycle = steady(&problem).expect("few states");
    assert_eq!(cycle.cost, 5 * cycle.rounds);
    problem.kernels[1].lanes[0].writes[0].time[1] = 50;
    let cycle = steady(&problem).expect("few states");
    assert_eq!(cycle.cost, 10 * cycle.rounds);
}

/// Fifty kernels with three lanes that read four arrays each, as they come in or as others make them.
fn long(random: &mut Random) -> Problem {
    let (arrays, layouts) = (12, 6);
    let mut problem = Problem {
        initial: vec![Some(0); arrays],
        copy: vec![vec![60; layouts]; arrays],
        kernels: Vec::new(),
    };
    for _ in 0..50 {
        let mut kernel = Kernel { runs: 1, ..Kernel::default() };
        let reads: Vec<usize> = (0..4).map(|_| random.below(arrays)).collect();
        for _ in 0..3 {
            let reads = reads.iter().map(|array| Access { array: *array, time: times(random, layouts) });
            kernel.lanes.push(Lane { reads: reads.collect(), ..Lane::default() });
        }
        problem.kernels.push(kernel);
    }
    problem
}

#[test]
fn long_sequences_are_cut_short_and_end_near_the_best() {
    let mut random = Random::new(11);
    let (mut quick, mut thorough, mut plain) = (0, 0, 0);
    for _ in 0..4 {
        let problem = long(&mut random);
        let solutions = [Effort::Quick, Effort::Thorough].map(|effort| solve(&problem, effort));
        assert!(solutions.iter().all(|solution| solution.bounded && solution.at_least <= solution.total));
        assert!(solutions.iter().all(|solution| solution.steps.len() == 50));
        quick += solutions[0].total;
        thorough += solutions[1].total;
        let first = |kernel: &Kernel| {
            let lane = |lane: &Lane| lane.reads.iter().map(|read| read.time[0]).sum::<u64>();
            kernel.lanes.iter().map(lane).min().unwrap_or(0)
        };
        plain += problem.kernels.iter().map(first).sum::<u64>();
    }
    println!("as it is {plain}, quick {quick}, thorough {thorough}");
    assert!(thorough <= quick && quick * 100 <= thorough * 110, "{plain} {quick} {thorough}");
    assert!(quick < plain, "{plain} {quick}");
}
